#include "worker/remote/listener.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "engine/handover/desks.hpp"
#include "worker/remote/remote_worker.hpp"

namespace hocket::worker::remote {

using engine::Descriptor;

namespace {

/// At a time: who only connects has a process for some seconds.
constexpr int most_workers = 256;

volatile sig_atomic_t is_over = 0;

void end_soon(int) {
  is_over = 1;
}

void hear_signals() {
  struct sigaction action{};
  action.sa_handler = end_soon;  // without SA_RESTART: what waits for a connection ends
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = [](int) {};
  sigaction(SIGCHLD, &action, nullptr);
}

/// In a process of its own, which ends with the service.
int work_for(Descriptor connection, const Key& key) try {
  RemoteWorker worker(hear(std::move(connection), key, engine::handover::build_version()));
  if (!worker.run()) _exit(1);  // as if killed
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hocketd: a host: %s\n", error.what());
  return 1;
}

void start_worker(Descriptor connection, const Descriptor& listener, const Key& key) {
  const pid_t service = getpid();
  const pid_t pid = fork();
  if (pid < 0) std::perror("hocketd: no process for a worker");
  if (pid != 0) return;
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != service) _exit(1);
  close(listener.number());
  _exit(work_for(std::move(connection), key));
}

/// Those that have ended.
int reap() {
  int ended = 0;
  while (waitpid(-1, nullptr, WNOHANG) > 0) ++ended;
  return ended;
}

}  // namespace

void listen_for_hosts(const Place& place, const Key& key) {
  const Descriptor listener = listen_at(place);
  hear_signals();
  std::printf("hocketd: listening on %s\n", name_of(listener).c_str());
  std::fflush(stdout);
  for (int workers = 0; is_over == 0;) {
    Descriptor connection = accept_from(listener);
    workers -= reap();
    if (!connection || workers >= most_workers) continue;
    start_worker(std::move(connection), listener, key);
    ++workers;
  }
}

}  // namespace hocket::worker::remote
