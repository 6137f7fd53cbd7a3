#include "interpose/plugin/requests/progress_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <utility>

#include "base/clock.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/progress.hpp"
#include "transports/waiting.hpp"

namespace hocket::interpose {
namespace {

constexpr long rescue_every_ns = 1'000'000;  // a hundredth of a core at most
constexpr long shortest_nap_ns = 50'000;
constexpr long longest_nap_ns = 125'000;
constexpr std::uint32_t spins_of_own_core = 2'000;  // some 50 us beside an idle program
constexpr std::uint32_t idle_looks_before_sleep = 8;
constexpr unsigned long timer_slack_ns = 1'000;

bool tried = false;  // under the progress lock, or while nothing is under way
std::atomic<bool> running{false};
std::atomic<bool> ending{false};
std::atomic<std::uint32_t> asleep{0};  // 1: waits to be woken
pthread_t thread;

void nap(long ns) {
  sleep_ns(ns);
}

// Pauses between looks on a core that the program wants as well, each of which takes some 10 us from a
// virtual machine's core. They grow while nothing ends and nothing is started: what comes is found late by a
// thirtieth of the time it took. Not for long: the MPI hands a large message over in pieces, of which each
// side has to be told.
class Naps {
 public:
  void take() {
    const std::uint64_t started = started_count();
    if (std::exchange(started_, started) != started) start_again();
    nap(next_ns_);
    next_ns_ = std::min(next_ns_ + next_ns_ / 32, longest_nap_ns);
  }
  void start_again() { next_ns_ = shortest_nap_ns; }

 private:
  long next_ns_ = shortest_nap_ns;
  std::uint64_t started_ = 0;
};

// Until an operation is started, or the thread is to end. Who starts one looks at `asleep` after it has said
// so, and this looks whether there is one after it has said that it sleeps.
void sleep_until_woken() {
  asleep = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (!is_anything_under_way() && !ending && asleep != 0) transports::sleep_on(&asleep, 1);
  asleep = 0;
}

bool advance() {
  using Needs = engine::Outstanding::Needs;
  return advance_needing(process.engine->carries_messages_in_background() ? Needs::mpi : Needs::nothing);
}

// Goes on unless the program has itself done so since the last look.
void rescue() {
  static std::uint32_t seen = 0;
  const std::uint32_t now = progress_count();
  nap(now == seen ? shortest_nap_ns : rescue_every_ns);
  if (progress_count() == now) advance();
  seen = now;
}

void go_on(bool has_core, Naps& naps) {
  if (advance()) return naps.start_again();
  if (!has_core) return naps.take();
  for (std::uint32_t i = 0; i < spins_of_own_core && is_anything_under_way(); ++i)
    if (advance()) return;
  sched_yield();
}

void wake_up() noexcept {
  if (asleep.load() != 0 && asleep.exchange(0) != 0) transports::wake(&asleep);
}

void* run(void*) {
  prctl(PR_SET_NAME, "hocket");
  prctl(PR_SET_TIMERSLACK, timer_slack_ns);
  const ThreadDuty duty = thread_duty();
  const bool has_core = process.engine->has_spare_cores();
  std::uint32_t idle = 0;
  Naps naps;
  while (!ending) {
    if (!is_anything_under_way()) {
      if (++idle > idle_looks_before_sleep)
        sleep_until_woken();
      else
        nap(shortest_nap_ns);
      continue;
    }
    idle = 0;
    if (duty == ThreadDuty::rescue)
      rescue();
    else
      go_on(has_core, naps);
  }
  return nullptr;
}

// The program's signals are the program's threads'.
bool start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, nullptr, run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) explain("no thread can be started: operations go on in calls of MPI only");
  return started;
}

}  // namespace

ThreadDuty thread_duty() {
  if (process.engine->options().progress == "calls") return ThreadDuty::none;
  if (process.engine->progresses_in_background()) return ThreadDuty::progress;
  return is_hooked_into_mpi() ? ThreadDuty::none : ThreadDuty::rescue;
}

void wake_progress_thread() noexcept {
  if (!tried) {
    tried = true;
    ending = false;
    running = thread_duty() != ThreadDuty::none && start_thread();
  }
  if (!running.load(std::memory_order_relaxed)) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  wake_up();
}

void end_progress_thread() noexcept {
  tried = false;  // MPI may be started again, by sessions
  if (!running.exchange(false)) return;
  ending = true;
  wake_up();
  pthread_join(thread, nullptr);
}

}  // namespace hocket::interpose
