// A table of launchers, first match first: the one that started the process itself comes before the batch
// system around it.
#include "engine/job_identity.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/process_identity.hpp"

namespace hocket::engine {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int> number_in(const char* name) {
  const char* value = variable(name);
  return value ? number(value) : std::nullopt;
}

/// What a launcher tells. Empty `key`: its variables are not there. A filled `problem`: they are, but say too
/// little.
struct Told {
  std::string key;
  std::optional<int> local_rank;
  std::optional<int> local_size;
  std::string problem;
};

/// HOCKET_JOB=KEY:LOCAL_RANK:LOCAL_SIZE; the key may hold colons itself.
Told by_hand() {
  const char* value = variable("HOCKET_JOB");
  if (!value) return {};
  const std::string_view text = value;
  const auto size_at = text.rfind(':');
  const auto rank_at = size_at == 0 || size_at == text.npos ? text.npos : text.rfind(':', size_at - 1);
  if (rank_at == text.npos || rank_at == 0)
    return {.key = {}, .local_rank = {}, .local_size = {}, .problem = "expected KEY:LOCAL_RANK:LOCAL_SIZE"};
  return {.key = std::string(text.substr(0, rank_at)),
          .local_rank = number(text.substr(rank_at + 1, size_at - rank_at - 1)),
          .local_size = number(text.substr(size_at + 1)),
          .problem = {}};
}

/// Address of the node's PMIx server: Open MPI 4 numbers its jobs in 16 bits, so that the name alone could be
/// used twice on a node.
std::string pmix_server() {
  for (const char* name :
       {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"})
    if (const char* value = variable(name)) return value;
  return {};
}

/// Open MPI 4 and 5 (mpirun, prterun). Processes made by MPI_Comm_spawn have a name space of their own.
Told open_mpi() {
  const char* name_space = variable("PMIX_NAMESPACE");
  if (!name_space || !variable("OMPI_COMM_WORLD_LOCAL_RANK")) return {};
  return {.key = std::string(name_space) + "@" + pmix_server(),
          .local_rank = number_in("OMPI_COMM_WORLD_LOCAL_RANK"),
          .local_size = number_in("OMPI_COMM_WORLD_LOCAL_SIZE"),
          .problem = {}};
}

/// The process at the other end of hydra's PMI socket: the node's proxy, one per job (and one more for each
/// MPI_Comm_spawn).
std::string hydra_proxy() {
  const auto descriptor = number_in("PMI_FD");
  ucred peer{};
  socklen_t size = sizeof peer;
  if (descriptor && getsockopt(*descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
    return "proxy " + std::to_string(peer.pid) + ":" + std::to_string(start_time_of(peer.pid));
  if (const char* port = variable("PMI_PORT")) return std::string("port ") + port;
  if (const char* launcher = variable("HOCKET_LAUNCHER_PID")) return std::string("launcher ") + launcher;
  return {};
}

/// MPICH and Intel MPI (mpiexec.hydra).
Told hydra() {
  if (!variable("MPI_LOCALRANKID") || !variable("MPI_LOCALNRANKS")) return {};
  Told told{.key = hydra_proxy(),
            .local_rank = number_in("MPI_LOCALRANKID"),
            .local_size = number_in("MPI_LOCALNRANKS"),
            .problem = {}};
  if (told.key.empty()) told.problem = "no PMI_FD, PMI_PORT or HOCKET_LAUNCHER_PID tells the job";
  // Newer proxies serve the jobs that they spawn as well: the proxy does not tell parents from children then.
  if (variable("PMI_SPAWNED")) told.problem = "started by MPI_Comm_spawn";
  return told;
}

/// "4(x2),3" with node 2 is 3: tasks per node, run-length encoded.
std::optional<int> tasks_of_node(std::string_view list, int node) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const auto times_at = item.find("(x");
    int times = 1;
    if (times_at != item.npos) {
      const auto given = number(item.substr(times_at + 2, item.size() - times_at - 3));
      if (!given || item.back() != ')') return std::nullopt;
      times = *given;
    }
    if (node < times) return number(item.substr(0, times_at));
    node -= times;
  }
  return std::nullopt;
}

/// srun, with whichever PMI.
Told slurm() {
  const char* job = variable("SLURM_JOB_ID");
  const char* step = variable("SLURM_STEP_ID");
  if (!job || !step || !variable("SLURM_LOCALID")) return {};
  const char* tasks = variable("SLURM_STEP_TASKS_PER_NODE");
  if (!tasks) tasks = variable("SLURM_TASKS_PER_NODE");
  return {.key = std::string(job) + "." + step,
          .local_rank = number_in("SLURM_LOCALID"),
          .local_size = tasks ? tasks_of_node(tasks, number_in("SLURM_NODEID").value_or(0)) : std::nullopt,
          .problem = {}};
}

struct Launcher {
  std::string_view name;
  Told (*ask)();
};

constexpr Launcher hand = {"HOCKET_JOB", by_hand};
constexpr Launcher launchers[] = {{"PMIx", open_mpi}, {"hydra", hydra}, {"slurm", slurm}};

std::string problem_of(const Told& told) {
  if (!told.problem.empty()) return told.problem;
  if (!told.local_rank) return "the local rank cannot be read";
  if (!told.local_size) return "the number of local ranks cannot be read";
  if (*told.local_rank >= *told.local_size) return "the local rank is not below the number of local ranks";
  return {};
}

bool has_told(const Told& told) {
  return !told.key.empty() || !told.problem.empty();
}

/// The launcher to believe, and what it told.
std::pair<std::string_view, Told> ask_in_order(std::string_view own) {
  if (Told told = hand.ask(); has_told(told)) return {hand.name, told};
  for (const bool asks_own : {true, false})
    for (const Launcher& launcher : launchers)
      if ((launcher.name == own) == asks_own)
        if (Told told = launcher.ask(); has_told(told)) return {launcher.name, told};
  return {};
}

}  // namespace

std::optional<JobIdentity> identify_job(std::string& why_not, std::string_view own_launcher) {
  const auto [name, told] = ask_in_order(own_launcher);
  if (name.empty()) {
    why_not = "no launcher (mpirun, mpiexec, srun) tells which ranks share this node; HOCKET_JOB can";
    return std::nullopt;
  }
  if (const std::string problem = problem_of(told); !problem.empty()) {
    why_not = std::string(name) + ": " + problem;
    return std::nullopt;
  }
  return JobIdentity{.key = "user " + std::to_string(geteuid()) + " " + std::string(name) + " " + told.key,
                     .local_rank = told.local_rank.value_or(0),
                     .local_size = told.local_size.value_or(1),
                     .source = std::string(name)};
}

}  // namespace hocket::engine
