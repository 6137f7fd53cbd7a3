#include "interpose/plugin/requests/progress.hpp"

#include <sched.h>
#include <ctime>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/progress_thread.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> under_way{0};
constinit ProgressLock progress_lock;

namespace {

struct UnderWay {
  Request* request;
  std::uint64_t number;  ///< of all that have been started
};
std::vector<UnderWay>& requests = *new std::vector<UnderWay>;  // oldest first
std::atomic<std::uint64_t> started{0};

// Release: who sees that nothing is under way may free what was used.
void count_under_way() {
  under_way.store(static_cast<std::uint32_t>(requests.size()), std::memory_order_release);
}

std::atomic<std::uint32_t> calls_of_progress{0};
std::atomic<std::uint32_t> completed{0};

// Completing one may run the program's handlers, which may start others: the list may grow meanwhile. What it
// uses may be freed, by another thread, when it is not counted any more.
void advance_all() noexcept {
  for (std::size_t i = 0; i < requests.size();) {
    Request& request = *requests[i].request;
    if (!request.has_arrived() && !request.advance()) {
      ++i;
      continue;
    }
    Communicator& communicator = request.communicator();
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(i));
    request.complete();
    --communicator.requests_under_way;
    count_under_way();
    completed.store(completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    free_unused(requests.empty() ? started_count() : requests.front().number - 1);
  }
}

/// For how long nothing has ended although somebody was here to see it: what the program does between its
/// calls does not count.
std::uint64_t waited_ns() noexcept {
  constexpr std::uint64_t longest_step_ns = 100'000'000;
  static std::uint32_t completed_before = 0;
  static std::uint64_t looked_at_ns = 0, waited = 0;
  const std::uint64_t now = monotonic_ns();
  waited = completed == completed_before ? waited + std::min(now - looked_at_ns, longest_step_ns) : 0;
  completed_before = completed;
  looked_at_ns = now;
  return waited;
}

/// A rank that has died, or is in another call, is found out by who waits for it, or tests again and again.
void look_after_one() noexcept {
  static std::size_t turn = 0;
  Request& request = *requests[turn++ % requests.size()].request;
  const std::uint64_t waited = waited_ns();
  if (request.has_arrived()) return;
  transports::Watch* watch = request.operation().waiting().watch;
  if (!watch) return;
  const Status status = watch->look(request.operation().blocker().peer, waited);
  if (status != Status::ok) request.fail(status);
}

}  // namespace

/// Whoever has time while the program is not in a wait of Hocket's.
static void go_on_elsewhere() {
  lend_progress_to_mpi();
  wake_progress_thread();
}

void add_under_way(Request& request) {
  requests.push_back({&request, started_count() + 1});
  started.store(requests.back().number, std::memory_order_relaxed);
  ++request.communicator().requests_under_way;
  count_under_way();
  advance_all();
  if (!requests.empty() && !requests.back().request->operation().has_given()) go_on_elsewhere();
}

// Who finds it taken has nothing to do: somebody is at it.
void progress() noexcept {
  constexpr std::uint32_t calls_per_look = 256;
  const std::uint32_t call = calls_of_progress.load(std::memory_order_relaxed) + 1;
  calls_of_progress.store(call, std::memory_order_relaxed);
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (!lock) return;
  advance_all();
  if (call % calls_per_look == 0 && !requests.empty()) look_after_one();
}

std::uint64_t started_count() noexcept {
  return started.load(std::memory_order_relaxed);
}

std::uint32_t completed_count() noexcept {
  return completed.load(std::memory_order_relaxed);
}

std::uint32_t progress_count() noexcept {
  return calls_of_progress.load(std::memory_order_relaxed);
}

bool advance_needing(engine::Outstanding::Needs most) noexcept {
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (!lock) return false;
  bool moved = false;
  for (const UnderWay& r : requests)
    if (!r.request->has_arrived() && r.request->operation().needs() <= most) moved |= r.request->advance();
  return moved;
}

void finish_all_of(const Communicator* communicator) noexcept {
  Pauses pauses;
  while (communicator ? communicator->requests_under_way != 0 : is_anything_under_way()) {
    progress();
    pauses.pause();
  }
}

void Pauses::pause() noexcept {
  constexpr std::uint32_t spins_before_yield = 512, turns_per_look_at_the_clock = 256;
  constexpr std::uint64_t nap_after_ns = 10'000'000;
  constexpr timespec nap{0, 50'000};
  const std::uint32_t turn = turns_++;
  if (turn < spins_before_yield && !process.engine->oversubscribed()) return;
  if (!started_ns_ && turn >= turns_per_look_at_the_clock) started_ns_ = monotonic_ns();
  if (started_ns_ && monotonic_ns() - started_ns_ > nap_after_ns)
    nanosleep(&nap, nullptr);
  else
    sched_yield();
}

}  // namespace hocket::interpose
