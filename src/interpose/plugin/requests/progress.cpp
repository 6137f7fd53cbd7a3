#include "interpose/plugin/requests/progress.hpp"

#include <sched.h>
#include <ctime>

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
  if (!requests.empty()) go_on_elsewhere();
}

// Who finds it taken has nothing to do: somebody is at it.
void progress() noexcept {
  calls_of_progress.store(calls_of_progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (lock) advance_all();
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

bool advance_without_mpi() noexcept {
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (!lock) return false;
  bool moved = false;
  for (const UnderWay& r : requests)
    if (!r.request->has_arrived() && !r.request->operation().needs_mpi()) moved |= r.request->advance();
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
  constexpr std::uint32_t spins_before_yield = 512, turns_per_look = 256;
  constexpr std::uint64_t nap_after_ns = 10'000'000;
  constexpr timespec nap{0, 50'000};
  const std::uint32_t turn = turns_++;
  if (turn < spins_before_yield && !process.engine->oversubscribed()) return;
  if (turn % turns_per_look == turns_per_look - 1) look_after_the_oldest();
  if (started_ns_ && monotonic_ns() - started_ns_ > nap_after_ns)
    nanosleep(&nap, nullptr);
  else
    sched_yield();
}

/// A rank that has died, or is in another call, is found out by who waits for it.
void Pauses::look_after_the_oldest() noexcept {
  const std::uint64_t now = monotonic_ns();
  if (!started_ns_) started_ns_ = now;
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (!lock || requests.empty() || requests.front().request->has_arrived()) return;
  engine::Outstanding& oldest = requests.front().request->operation();
  const transports::Blocker blocker = oldest.blocker();
  transports::Watch* watch = oldest.waiting().watch;
  if (!watch) return;
  const Status status = watch->look(blocker.peer, now - started_ns_);
  if (status != Status::ok) requests.front().request->fail(status);
}

}  // namespace hocket::interpose
