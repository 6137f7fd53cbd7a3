#include "worker/remote/service.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/handover/desks.hpp"
#include "worker/remote/remote_worker.hpp"

namespace hocket::worker::remote {

namespace {

/// In which a worker whose host has gone ends, unless somebody has stopped it.
constexpr double last_seconds = 5;

volatile sig_atomic_t is_over = 0;

/// Without SA_RESTART: what waits for a connection ends.
void handle(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

/// An error leaves the link as it is: nobody waits for it any more.
bool ends_in_order(RemoteWorker& worker) try { return worker.run(); } catch (const std::exception& error) {
  std::fprintf(stderr, "hocketd: a host: %s\n", error.what());
  return false;
}

/// In a process of its own.
int work_for(Descriptor connection, const tcp::Key& key) try {
  RemoteWorker worker(hear(std::move(connection), key, engine::handover::build_version()));
  if (!ends_in_order(worker)) _exit(1);  // as if killed
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hocketd: a host: %s\n", error.what());
  return 1;
}

}  // namespace

void Service::start_worker(Descriptor connection) {
  const pid_t service = getpid();
  const pid_t pid = fork();
  if (pid == 0) become_worker(service, std::move(connection));
  if (pid < 0)
    std::perror("hocketd: no process for a worker");
  else
    workers_.push_back({pid, std::move(connection), {}});
}

/// Without others' connections, which end when nobody has them.
void Service::become_worker(pid_t service, Descriptor connection) {
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != service) _exit(1);
  close(listener_.number());
  workers_.clear();
  _exit(work_for(std::move(connection), key_));
}

/// Somebody connects, a worker has ended, or its host has.
void Service::wait() {
  std::vector<pollfd> waited{{has_room() ? listener_.number() : -1, POLLIN, 0}};
  for (const Worker& one : workers_)
    if (!one.end) waited.push_back({one.connection.number(), POLLRDHUP, 0});
  poll(waited.data(), waited.size(), 1000);  // a signal may have come just before
  std::size_t next = 1;
  for (Worker& one : workers_)
    if (!one.end && waited[next++].revents != 0) one.end.emplace(last_seconds);
}

/// With the connection, by which the host learns of it.
void Service::reap() {
  for (pid_t ended = waitpid(-1, nullptr, WNOHANG); ended > 0; ended = waitpid(-1, nullptr, WNOHANG))
    workers_.remove_if([ended](const Worker& one) { return one.process == ended; });
}

void Service::end_late_ones() {
  for (const Worker& one : workers_)
    if (one.end && one.end->passed()) kill(one.process, SIGKILL);
}

void Service::run() {
  handle(SIGTERM, [](int) { is_over = 1; });
  handle(SIGINT, [](int) { is_over = 1; });
  handle(SIGCHLD, [](int) {});
  while (is_over == 0) {
    wait();
    reap();
    end_late_ones();
    if (!has_room()) continue;
    if (Descriptor connection = tcp::accept_from(listener_)) start_worker(std::move(connection));
  }
}

}  // namespace hocket::worker::remote
