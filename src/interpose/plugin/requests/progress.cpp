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
  bool ending = false;   ///< somebody completes it
};
std::vector<UnderWay>& requests = *new std::vector<UnderWay>;  // oldest first
std::atomic<std::uint64_t> started{0};

// Release: who sees that nothing is under way may free what was used.
void count_under_way() {
  under_way.store(static_cast<std::uint32_t>(requests.size()), std::memory_order_release);
}

std::atomic<std::uint32_t> calls_of_progress{0};
std::atomic<std::uint32_t> completed{0};

bool is_going_on(const UnderWay& r) {
  return !r.ending && !r.request->has_arrived();
}

// Goes on with all from this place on, up to one that has ended: complete() is for the caller, without the
// lock. Under the lock.
const UnderWay* next_ended(std::size_t& place) noexcept {
  for (; place < requests.size(); ++place) {
    UnderWay& r = requests[place];
    if (r.ending || !(r.request->has_arrived() || r.request->advance())) continue;
    r.ending = true;
    return &r;
  }
  return nullptr;
}

// It is not under way any more. What it uses may be freed, by another thread, from now on.
void take_off(const UnderWay& ended) noexcept {
  std::uint64_t all_ended = started_count();
  {
    const std::lock_guard lock(progress_lock);
    std::erase_if(requests, [&](const UnderWay& r) { return r.number == ended.number; });
    count_under_way();
    completed.store(completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!requests.empty()) all_ended = requests.front().number - 1;
  }
  free_unused(all_ended);
}

// The last use of the communicator, which another thread may be waiting to free.
void leave_communicator(Request& request) noexcept {
  const std::lock_guard lock(progress_lock);
  if (!request.has_failed()) request.release();
  --request.communicator().requests_under_way;
}

// Without the lock: the program's error handler, and callbacks of its types, may call any function of MPI. A
// failed request has no data to deliver, and its handler may end MPI: it is off the list before.
void complete(const UnderWay& ended) noexcept {
  Request& request = *ended.request;
  if (request.has_failed()) {
    const auto failure = request.failure();
    leave_communicator(request);
    take_off(ended);
    request.raise(failure);
    return request.tell();
  }
  request.deliver();
  leave_communicator(request);
  request.tell();
  take_off(ended);
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
  const UnderWay& r = requests[turn++ % requests.size()];
  Request& request = *r.request;
  const std::uint64_t waited = waited_ns();
  if (r.ending || request.has_arrived()) return;
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
  if (!request.advance() && !request.operation().has_given()) go_on_elsewhere();
}

void go_on_without_waits() noexcept {
  const std::lock_guard lock(progress_lock);
  if (!requests.empty()) go_on_elsewhere();
}

// Who finds the lock taken has nothing to do: somebody is at it.
void progress() noexcept {
  constexpr std::uint32_t calls_per_look = 256;
  const std::uint32_t call = calls_of_progress.load(std::memory_order_relaxed) + 1;
  calls_of_progress.store(call, std::memory_order_relaxed);
  for (std::size_t place = 0;;) {
    std::unique_lock lock(progress_lock, std::try_to_lock);
    if (!lock) return;
    if (place == 0 && call % calls_per_look == 0 && !requests.empty()) look_after_one();
    const UnderWay* found = next_ended(place);
    if (!found) return;
    const UnderWay ended = *found;
    lock.unlock();
    complete(ended);
  }
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
    if (is_going_on(r) && r.request->operation().needs() <= most) moved |= r.request->advance();
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
