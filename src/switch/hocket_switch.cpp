// hocket-switch: the program. docs/design/0018.
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "switch/daemon.hpp"

namespace hocket::aggregation {
namespace {

const Daemon* running = nullptr;

/// SIGTERM and SIGINT end it in order.
void end_on_signals(const Daemon& daemon) {
  running = &daemon;
  struct sigaction action{};
  action.sa_handler = [](int) { running->stop(); };
  for (const int number : {SIGTERM, SIGINT}) sigaction(number, &action, nullptr);
}

/// A socket for each child, whatever shells allow.
void allow_many_sockets() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const Settings& settings) {
  allow_many_sockets();
  Daemon daemon(settings);
  end_on_signals(daemon);
  std::printf("hocket-switch: listening on %s\n", daemon.name().c_str());
  if (settings.stats) std::printf("hocket-switch: statistics on %s\n", daemon.stats_name().c_str());
  std::fflush(stdout);
  daemon.run();
  return 0;
}

int main_of(const std::vector<std::string>& words) try {
  if (std::ranges::find(words, "--help") != words.end()) {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  return run(settings_in(words));
} catch (const UsageError& error) {
  std::fprintf(stderr, "hocket-switch: %s\n%s", error.what(), usage().c_str());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hocket-switch: %s\n", error.what());
  return 1;
}

}  // namespace
}  // namespace hocket::aggregation

int main(int argc, char** argv) {
  return hocket::aggregation::main_of(std::vector<std::string>(argv + 1, argv + argc));
}
