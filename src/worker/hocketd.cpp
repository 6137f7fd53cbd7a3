// hocketd: the worker of a node. hocket-exec starts it beside local rank 0 (launcher/start_worker.c) when
// HOCKET_WORKERS asks for one; it ends with the job. Or a service that works for the jobs of other hosts.
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
#include "worker/remote/forwarder.hpp"
#include "worker/remote/service.hpp"
#include "worker/remote/setup.hpp"
#include "worker/short_turns.hpp"

namespace hocket::worker {
namespace {

constexpr std::string_view usage =
    "usage: hocketd --for PID | --network | --listen HOST:PORT --key FILE\n"
    "The worker process of a node, which hocket-exec starts where HOCKET_WORKERS asks for it.\n"
    "  --for PID   ends with that process, if no rank has come until then\n"
    "  --network   says what would carry its messages to another node, or to HOCKET_WORKER_HOST\n"
    "  --listen HOST:PORT --key FILE\n"
    "              a service for other hosts: works for the jobs of this user there whose "
    "HOCKET_WORKER_HOST\n"
    "              and HOCKET_WORKER_KEY say so, until it is killed; the key is 64 characters\n"
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
  return {*entrance, static_cast<std::uint32_t>(job->local_size), employer, engine::handover::build_version(),
          Options::from_environment().stall_seconds};
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

remote::Hired hire(const std::string& where, const ServedRanks::Terms& terms) {
  return remote::hire(tcp::place_in(where), tcp::key_in(variable("HOCKET_WORKER_KEY")), terms,
                      engine::handover::build_version());
}

/// Of a worker elsewhere: the link to it, and whether it has a network.
void say_remote_network(const std::string& where) {
  const remote::Hired hired = hire(where, {});
  std::printf("%s\n", hired.link->carriers().c_str());
  if (hired.address.empty()) throw Error("other workers do not reach it: " + hired.why_alone);
}

/// As it speaks to another worker: one of this process has to do.
void say_own_network() {
  const std::unique_ptr<Fabric> self = open_network(), other = open_network();
  const auto bytes_of = [](const Fabric& fabric) {
    const std::span<const std::byte> address = fabric.address();
    return std::vector<std::byte>(address.begin(), address.end());
  };
  const std::vector addresses{bytes_of(*self), bytes_of(*other)};
  self->connect(addresses, {0, 1});
  std::printf("%s\n", self->carriers().c_str());
}

/// File systems can be unmounted.
void begin_to_serve() {
  if (chdir("/") != 0) throw Error("no root folder");
  let_starter_go_on();
}

/// Where ranks are served from here, this needs a core of its own.
int work(Employment employment) {
  employment.cpus =
      settle(variable("HOCKET_WORKER_CPUS"), static_cast<int>(employment.desks), workers_asked_for());
  Daemon daemon(employment);
  begin_to_serve();
  daemon.run();
  return 0;
}

/// The worker is elsewhere, and when it has gone its ranks must find that this has ended, too.
int forward(const Employment& employment, const std::string& where) {
  settle(variable("HOCKET_WORKER_CPUS"), 0, 0);
  remote::Forwarder forwarder(employment, hire(where, {employment.desks, employment.stall_seconds, 0}));
  begin_to_serve();
  try {
    if (forwarder.run()) return 0;
  } catch (const std::exception&) {
    _exit(1);  // the worker is of another build, or there is no memory
  }
  _exit(1);
}

int listen_there(const std::string& where, const std::string& key_file) {
  remote::Service service(tcp::place_in(where), tcp::key_in(key_file));
  std::printf("hocketd: listening on %s\n", service.name().c_str());
  std::fflush(stdout);
  service.run();
  return 0;
}

int run(std::span<char*> arguments) {
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  prctl(PR_SET_TIMERSLACK, 1UL);  // naps last as long as they say
  ask_for_short_turns();
  const std::string where = variable("HOCKET_WORKER_HOST");
  if (words == std::vector<std::string>{"--network"})
    return where.empty() ? say_own_network() : say_remote_network(where), 0;
  if (words.size() == 4 && words[0] == "--listen" && words[2] == "--key")
    return listen_there(words[1], words[3]);
  if (words.size() != 2 || words[0] != "--for") {
    std::fwrite(usage.data(), 1, usage.size(), stderr);
    return 2;
  }
  const Employment terms = employment(process_in(words[1]));
  return where.empty() ? work(terms) : forward(terms, where);
}

}  // namespace
}  // namespace hocket::worker

int main(int argc, char** argv) try {
  return hocket::worker::run(std::span(argv, static_cast<std::size_t>(argc)));
} catch (const std::exception& e) {
  std::fprintf(stderr, "hocketd: %s\n", e.what());
  return 1;
}
