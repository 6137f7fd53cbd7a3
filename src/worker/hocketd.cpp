// hocketd: the worker of a node. hocket-exec starts it beside local rank 0 (launcher/start_worker.c) when
// HOCKET_WORKERS asks for one; it ends with the job.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/options.hpp"
#include "engine/job_identity.hpp"
#include "worker/daemon.hpp"
#include "worker/fabric.hpp"
#include "worker/own_cpus.hpp"

namespace hocket::worker {
namespace {

constexpr std::string_view usage =
    "usage: hocketd --for PID | --network\n"
    "The worker process of a node, which hocket-exec starts where HOCKET_WORKERS asks for it.\n"
    "  --for PID   ends with that process, if no rank has come until then\n"
    "  --network   says what would carry its messages to another node\n"
    "HOCKET_WORKER=NAME:SECRET says where ranks find it.\n";

/// It waits for this word, and for the end of what this process has to say (launcher/start_worker.c).
void let_starter_go_on() {
  constexpr std::string_view ready = "\nready\n";
  if (write(STDERR_FILENO, ready.data(), ready.size()) != static_cast<ssize_t>(ready.size())) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0) close(STDERR_FILENO);
  if (nowhere >= 0) close(nowhere);
}

pid_t process_in(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    throw Error("--for: not a process: " + std::string(text));
  return pid;
}

int workers_asked_for() {
  const char* const text = std::getenv("HOCKET_WORKERS");
  const long number = text ? std::strtol(text, nullptr, 10) : 1;
  return static_cast<int>(std::clamp(number, 1L, static_cast<long>(engine::handover::most_workers)));
}

Employment employment(pid_t employer) {
  const char* const where = std::getenv("HOCKET_WORKER");
  const auto entrance = engine::handover::parse_entrance(where ? where : "");
  if (!entrance) throw Error("HOCKET_WORKER=NAME:SECRET is not set");
  std::string why_not;
  const auto job = engine::identify_job(why_not);
  if (!job) throw Error(why_not);
  const char* const cpus = std::getenv("HOCKET_WORKER_CPUS");
  settle(cpus ? cpus : "", job->local_size, workers_asked_for());
  return {*entrance, static_cast<std::uint32_t>(job->local_size), employer, engine::handover::build_version(),
          Options::from_environment().stall_seconds};
}

/// As it speaks to another worker: one of this process has to do.
void say_network() {
  const std::unique_ptr<Fabric> self = open_network(), other = open_network();
  const auto bytes_of = [](const Fabric& fabric) {
    const std::span<const std::byte> address = fabric.address();
    return std::vector<std::byte>(address.begin(), address.end());
  };
  const std::vector addresses{bytes_of(*self), bytes_of(*other)};
  self->connect(addresses, {0, 1});
  std::printf("%s\n", self->carriers().c_str());
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--network") return say_network(), 0;
  if (argc != 3 || std::string_view(argv[1]) != "--for") {
    std::fwrite(usage.data(), 1, usage.size(), stderr);
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1UL);  // naps last as long as they say
  Daemon daemon(employment(process_in(argv[2])));
  if (chdir("/") != 0) throw Error("no root folder");  // file systems can be unmounted
  let_starter_go_on();
  daemon.run();
  return 0;
}

}  // namespace
}  // namespace hocket::worker

int main(int argc, char** argv) try {
  return hocket::worker::run(argc, argv);
} catch (const std::exception& e) {
  std::fprintf(stderr, "hocketd: %s\n", e.what());
  return 1;
}
