#include "interpose/plugin/network/worker.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/fingerprint.hpp"
#include "engine/handover/client.hpp"
#include "engine/handover/door.hpp"
#include "engine/handover/worker_cpus.hpp"
#include "engine/internet_addresses.hpp"
#include "engine/job_identity.hpp"
#include "engine/shared_memory.hpp"
#include "engine/slot_part.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/network/setup_call.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/hooks.hpp"

namespace hocket::interpose {
namespace {

using namespace engine::handover;

constexpr std::uint64_t notice_origin = 0x776f726b6572;

/// What local rank 0, which hocket-exec has told, tells the others of its node.
struct Notice {
  std::atomic<std::uint32_t> posted;  ///< 0: not yet; else 1 + how many workers there are
  std::array<Entrance, most_workers> entrances;
};

/// With the worker that serves this rank.
struct Meeting {
  std::uint64_t worker = 0;  ///< it alone has this number; 0: there is none
  std::unique_ptr<Client> client;
};

void pause() {
  if (const engine::Host& host = process.engine->host(); host.poke) host.poke(host.context);
  sleep_ns(100'000);
}

std::vector<Entrance> own_entrances() {
  const char* const text = std::getenv("HOCKET_WORKER");
  std::vector<Entrance> entrances = parse_entrances(text ? text : "");
  if (entrances.size() > most_workers) entrances.clear();
  return entrances;
}

void post(Notice& notice, const std::vector<Entrance>& entrances) {
  std::ranges::copy(entrances, notice.entrances.begin());
  notice.posted.store(1 + static_cast<std::uint32_t>(entrances.size()), std::memory_order_release);
}

std::vector<Entrance> read(const Notice& notice) {
  std::uint32_t posted = 0;
  for (const Deadline end(process.engine->options().setup_seconds);
       (posted = notice.posted.load(std::memory_order_acquire)) == 0;) {
    if (end.passed()) throw Error("local rank 0 did not say where the worker is");
    pause();
  }
  const auto first = notice.entrances.begin();
  return {first, first + std::min<std::size_t>(posted - 1, most_workers)};
}

/// Of all workers of this node. Throws Error.
std::vector<Entrance> entrances(const engine::JobIdentity& job) {
  std::vector<Entrance> all = job.local_rank == 0 ? own_entrances() : std::vector<Entrance>();
  if (job.local_size > 1) {
    engine::Arena* const arena = process.engine->arena();
    if (!arena || !arena->sealed()) throw Error("the ranks of this node have no arena to meet in");
    // It is never given back: who reads it last is not known.
    auto& part = *new engine::SlotPart(*arena, {notice_origin, 0, 0});
    std::byte* const memory = part.carve(sizeof(Notice), arena->local_ranks(), engine::Content::zeros);
    if (!memory) throw Error("the arena's memory is spent");
    Notice& notice = *reinterpret_cast<Notice*>(memory);
    if (job.local_rank == 0)
      post(notice, all);
    else
      all = read(notice);
  }
  if (all.empty()) throw Error("hocket-exec has started none");
  return all;
}

std::vector<engine::CpuMask> cpus_of_local_ranks(const engine::JobIdentity& job) {
  if (job.local_size == 1) return {engine::affinity_of(0)};
  return process.engine->arena()->cpus_of_ranks();
}

/// Of a rank, where that is said.
std::size_t threads_of_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return static_cast<std::size_t>(std::clamp(text ? std::strtol(text, nullptr, 10) : 1L, 1L, 8192L));
}

/// Of one of the node's workers. The same verdict on all its ranks, as far as their environments agree.
/// Throws Error where the ranks need all cores.
engine::CpuMask place_of(std::size_t worker, const DesksHeader& header, const engine::JobIdentity& job,
                         std::size_t workers) {
  if (header.are_given != 0) return part_of(header.cpus, worker, workers);
  const std::vector<engine::CpuMask> masks = cpus_of_local_ranks(job);
  if (masks.empty()) throw Error("it is not known where the ranks of this node run");
  const WorkerCpus found = cpus_for(worker, workers, {masks, threads_of_rank()}, header.cpus);
  if (!found.are_enough)
    throw Error("no core is free for it (the ranks of this node leave " + std::to_string(found.left) +
                " for " + std::to_string(workers) + "; HOCKET_WORKER_CPUS names some all the same)");
  return found.cpus;
}

/// Each worker is sent to its place by the first rank that it serves. Throws Error, having left, where the
/// node has no place.
void place(Client& client, const engine::JobIdentity& job, std::size_t entrances) {
  if (client.header().cpus.none()) return;  // it serves elsewhere
  const std::size_t workers = std::min(entrances, static_cast<std::size_t>(job.local_size));
  const auto number = static_cast<std::size_t>(job.local_rank);
  try {
    const engine::CpuMask cpus = place_of(number % workers, client.header(), job, workers);
    if (number < workers && !engine::set_affinity_of_all_threads(client.header().pid, cpus))
      explain(std::string("the worker stays where it is: ") + std::strerror(errno));
  } catch (const Error&) {
    client.leave();
    throw;
  }
}

Meeting meet() {
  const Options& options = process.engine->options();
  std::string why_not;
  const auto job = engine::identify_job(why_not, process.engine->host().launcher);
  if (!job) throw Error(why_not);
  const std::vector<Entrance> all = entrances(*job);
  const Entrance& entrance = all[static_cast<std::size_t>(job->local_rank) % all.size()];
  Meeting meeting;
  meeting.worker = engine::hash_of(std::string_view(entrance.name.data(), entrance.name.size())) | 1U;
  Desks desks = Desks::attach(enter(entrance, options.setup_seconds), build_version());
  meeting.client = std::make_unique<Client>(
      std::move(desks), Client::Place{static_cast<std::uint32_t>(job->local_rank), process.rank,
                                      options.stall_seconds, options.setup_seconds});
  place(*meeting.client, *job, all.size());
  return meeting;
}

Meeting try_to_meet() {
  try {
    return meet();
  } catch (const std::exception& e) {
    explain(std::string("no worker: ") + e.what());
    return {};
  }
}

void require(int result, MPI_Request request, const char* step) {
  if (result != MPI_SUCCESS || !complete(request, step))
    throw Error(std::string("the MPI has failed: ") + step);
}

/// Whether all ranks say so.
bool all_say(bool own, MPI_Comm comm) {
  const int missing = own ? 0 : 1;
  int any_missing = 0;
  MPI_Request request;
  const int result = host().Iallreduce(&missing, &any_missing, 1, MPI_INT, MPI_MAX, comm, &request);
  require(result, request, "the workers of all nodes");
  return any_missing == 0;
}

/// One rank of each node tells its worker of all others.
bool connect(Client& client, const Connect& workers) {
  try {
    return client.tell(encode(workers));
  } catch (const std::exception&) {
    return false;
  }
}

/// What each rank knows of the worker that serves it.
struct Told {
  std::uint64_t worker;        ///< 0: it has none
  std::int32_t address_bytes;  ///< 0: others cannot reach it
  std::uint32_t maps_heap;     ///< 1: the rank's
  engine::InternetAddresses host;
};

std::vector<Told> exchange(const Told& own, MPI_Comm comm) {
  int ranks = 0;
  host().Comm_size(comm, &ranks);
  std::vector<Told> all(static_cast<std::size_t>(ranks));
  MPI_Request request;
  const int result =
      host().Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm, &request);
  require(result, request, "the other ranks' workers");
  return all;
}

/// Workers are numbered as the first ranks that each serves come: these lead.
struct Workers {
  std::vector<std::uint32_t> of;  ///< by rank
  std::vector<std::size_t> leaders;
};

Workers number(const std::vector<Told>& told) {
  Workers workers;
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    const auto next = static_cast<std::uint32_t>(known.size());
    const auto [found, is_new] = known.try_emplace(told[rank].worker, next);
    if (is_new) workers.leaders.push_back(rank);
    workers.of.push_back(found->second);
  }
  return workers;
}

/// Of all workers. `own`: empty, but for leaders.
std::vector<Bytes> exchange_addresses(const Bytes& own, const std::vector<Told>& told, const Workers& workers,
                                      MPI_Comm comm) {
  std::vector<int> counts(told.size()), starts(told.size());
  int bytes = 0;
  for (const std::size_t leader : workers.leaders) {
    counts[leader] = told[leader].address_bytes;
    starts[leader] = bytes;
    bytes += counts[leader];
  }
  Bytes all(static_cast<std::size_t>(std::max(bytes, 1)));
  MPI_Request request;
  const int result = host().Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(),
                                        counts.data(), starts.data(), MPI_BYTE, comm, &request);
  require(result, request, "the workers' addresses");
  std::vector<Bytes> addresses;
  for (const std::size_t leader : workers.leaders)
    addresses.emplace_back(all.begin() + starts[leader], all.begin() + starts[leader] + counts[leader]);
  return addresses;
}

std::vector<engine::InternetAddresses> hosts_of(const Workers& workers, const std::vector<Told>& told) {
  std::vector<engine::InternetAddresses> hosts;
  for (const std::size_t leader : workers.leaders) hosts.push_back(told[leader].host);
  return hosts;
}

/// What this rank allocates is memory that its worker maps, whoever else it is for: one that is on the node,
/// and the only one there.
bool is_heap_mapped(const Options& options) {
  return options.workers == 1 && options.worker_host.empty() && engine::has_shared_heap();
}

bool reach_each_other(const std::vector<Bytes>& addresses) {
  return addresses.size() == 1 ||
         std::ranges::none_of(addresses, [](const Bytes& address) { return address.empty(); });
}

void explain_workers(const Client& client, const std::vector<Bytes>& addresses) {
  const std::string who = addresses.size() == 1
                              ? "a worker process carries"
                              : std::to_string(addresses.size()) + " worker processes carry";
  if (reach_each_other(addresses)) return explain(who + " non-blocking collectives out");
  const std::string why = client.why_alone();
  explain(who + " non-blocking collectives out, of communicators on one node alone: " +
          (why.empty() ? "some have no network" : "there is no network: " + why));
}

}  // namespace

void open_workers(MPI_Comm comm) {
  const Options& options = process.engine->options();
  if (options.workers == 0) return;
  Meeting meeting = try_to_meet();
  Bytes address;
  if (meeting.client) {
    const auto told = meeting.client->worker_address();
    address.assign(told.begin(), told.end());
  }
  const std::vector<Told> told =
      exchange({meeting.worker, static_cast<std::int32_t>(address.size()), is_heap_mapped(options) ? 1U : 0U,
                engine::own_internet_addresses()},
               comm);
  if (std::ranges::any_of(told, [](const Told& one) { return one.worker == 0; }))
    return explain("not all ranks have a worker on their node: none is used");
  const Workers workers = number(told);
  const bool leads = std::ranges::binary_search(workers.leaders, static_cast<std::size_t>(process.rank));
  if (!leads) address.clear();
  const std::vector<Bytes> addresses = exchange_addresses(address, told, workers, comm);
  if (options.workers > 1 && !reach_each_other(addresses))
    return explain("several workers on a node need a network between them: none is used: " +
                   meeting.client->why_alone());
  const bool told_it = !leads || connect(*meeting.client, {addresses, workers.of, hosts_of(workers, told)});
  if (!all_say(told_it && meeting.client->is_connected(options.setup_seconds), comm))
    return explain("the workers of the nodes do not reach each other: none is used");
  explain_workers(*meeting.client, addresses);
  const bool maps_heaps = std::ranges::all_of(told, [](const Told& one) { return one.maps_heap == 1; });
  process.engine->employ(
      {std::move(meeting.client), reach_each_other(addresses), is_hooked_into_mpi(), maps_heaps});
}

}  // namespace hocket::interpose
