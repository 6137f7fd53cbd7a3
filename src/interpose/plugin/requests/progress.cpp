#include "interpose/plugin/requests/progress.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/progress_thread.hpp"
#include "interpose/plugin/requests/under_way.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> under_way{0};
constinit ProgressLock progress_lock;

namespace {

using Lock = std::unique_lock<ProgressLock>;

void nap() noexcept {
  sleep_ns(50'000);
}

UnderWay requests;
std::atomic<std::uint64_t> started{0};
std::atomic<std::uint32_t> calls_of_progress{0};
std::atomic<std::uint32_t> completed{0};

/// Of a number that is written under the progress lock only: others read it, so that a locked instruction is
/// not needed. Release: who sees that nothing is under way may free what was used.
void add(std::atomic<std::uint32_t>& number, std::int32_t more) noexcept {
  number.store(number.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more),
               std::memory_order_release);
}

bool is_going_on(const Request& request) {
  return !request.is_ending() && !request.has_arrived();
}

/// The last use of the communicator, which another thread may be waiting to free.
void leave_communicator(Request& request) noexcept {
  if (!request.has_failed()) request.release();
  add(request.communicator().requests_under_way, -1);
}

/// It is not under way any more. What it uses may be freed, by another thread, from now on.
void count_completed() noexcept {
  add(under_way, -1);
  add(completed, 1);
}

/// Its data are where they belong.
void complete(Request& request) noexcept {
  leave_communicator(request);
  requests.remove(request);
  request.tell();
  count_completed();
}

/// The program's error handler may call any function of MPI, also for this request, and may end MPI: without
/// the lock, and when the request is not needed any more.
void complete_failed(Request& request, Lock& lock) noexcept {
  const MPI_Comm comm = request.communicator().handle;
  const int code = request.fail_to_deliver();
  complete(request);
  lock.unlock();
  raise_class(comm, code);
  lock.lock();
}

/// It has ended before anybody had to go on with it. False: ending it takes more than the lock allows.
bool complete_at_once(Request& request) noexcept {
  if (!request.is_plain() || request.has_failed()) return false;
  request.deliver();
  request.release();
  request.tell();
  add(completed, 1);
  return true;
}

/// Callbacks of the program's types may call any function of MPI: without the lock. Meanwhile the request
/// stays on the list.
void deliver(Request& request, Lock& lock) noexcept {
  if (request.is_plain()) return request.deliver();
  request.begin_ending();
  lock.unlock();
  request.deliver();
  lock.lock();
}

/// Completes it if it has ended. Returns the next one to go on with.
Request* go_on_with(Request& request, Lock& lock) noexcept {
  if (request.is_ending() || !(request.has_arrived() || request.advance())) return UnderWay::after(request);
  if (request.has_failed()) return complete_failed(request, lock), requests.oldest();
  deliver(request, lock);
  Request* const next = UnderWay::after(request);
  complete(request);
  return next;
}

/// Nobody waits for this rank to go on with another one.
bool is_needed_for_none_but(const Request& awaited) noexcept {
  for (Request* r = requests.oldest(); r; r = UnderWay::after(*r))
    if (r != &awaited && !r->operation().has_given()) return false;
  return true;
}

/// Looks on where nothing else is under way, and nobody gains by having the lock: taking it for each look
/// takes longer than the look.
void look_closely(Request& awaited, Lock& lock) noexcept {
  constexpr int looks = 32;
  if (process.engine->oversubscribed()) return;
  for (int i = 0; i < looks && requests.is_only(awaited) && awaited.operation().has_given(); ++i)
    go_on_with(awaited, lock);
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

Request& nth_under_way(std::size_t n) noexcept {
  Request* request = requests.oldest();
  for (; n > 0; --n) request = UnderWay::after(*request);
  return *request;
}

/// A rank that has died, or is in another call, is found out by who waits for it, or tests again and again.
void look_after_one() noexcept {
  static std::size_t turn = 0;
  Request& request = nth_under_way(turn++ % under_way);
  const std::uint64_t waited = waited_ns();
  if (!is_going_on(request)) return;
  transports::Watch* watch = request.operation().waiting().watch;
  if (!watch) return;
  const Status status = watch->look(request.operation().blocker().peer, waited);
  if (status != Status::ok) request.fail(status);
}

}  // namespace

/// Who has it may have lost its core to those that wait, or wait itself, for the arena's directory.
void ProgressLock::wait() noexcept {
  constexpr int yields = 128;
  for (int turn = 0; !try_lock(); ++turn) turn < yields ? static_cast<void>(sched_yield()) : nap();
}

/// Whoever has time while the program is not in a wait of Hocket's.
static void go_on_elsewhere() {
  lend_progress_to_mpi();
  wake_progress_thread();
}

void add_under_way(Request& request) {
  const bool has_ended = request.has_arrived() || request.advance();
  if (has_ended && complete_at_once(request)) return;
  requests.add(request);
  started.store(requests.added(), std::memory_order_relaxed);
  add(request.communicator().requests_under_way, 1);
  add(under_way, 1);
  if (!has_ended && !request.operation().has_given()) go_on_elsewhere();
}

void go_on_without_waits() noexcept {
  const std::lock_guard lock(progress_lock);
  if (!requests.is_empty()) go_on_elsewhere();
}

// Who finds the lock taken has nothing to do: somebody is at it.
template <class More>
static void progress_and(More more) noexcept {
  constexpr std::uint32_t calls_per_look = 256;
  const std::uint32_t call = calls_of_progress.load(std::memory_order_relaxed) + 1;
  calls_of_progress.store(call, std::memory_order_relaxed);
  Lock lock(progress_lock, std::try_to_lock);
  if (!lock) return;
  if (call % calls_per_look == 0 && !requests.is_empty()) look_after_one();
  const std::uint64_t removed_before = requests.all_removed();
  for (Request* request = requests.oldest(); request;) request = go_on_with(*request, lock);
  more(lock);
  const std::uint64_t removed = requests.all_removed();
  lock.unlock();
  if (removed != removed_before) free_unused(removed);
}

void progress() noexcept {
  progress_and([](Lock&) {});
}

void hear_of_workers() noexcept {
  constexpr std::uint32_t calls_per_look = 1024;
  static std::atomic<std::uint32_t> calls{0};  // of several threads some may be lost
  if (!process.engine->worker()) return;
  const std::uint32_t call = calls.load(std::memory_order_relaxed) + 1;
  calls.store(call, std::memory_order_relaxed);
  if (call % calls_per_look != 0) return;
  const std::unique_lock lock(progress_lock, std::try_to_lock);
  if (lock) process.engine->hear_of_workers();
}

void progress_for(Request& awaited) noexcept {
  progress_and([&](Lock& lock) { look_closely(awaited, lock); });
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
  for (Request* r = requests.oldest(); r; r = UnderWay::after(*r))
    if (is_going_on(*r) && r->operation().needs() <= most) moved |= r->advance();
  return moved;
}

void finish_all_of(const Communicator* communicator) noexcept {
  join_those_aside(communicator);
  Pauses pauses;
  while (communicator ? communicator->requests_under_way != 0 : is_anything_under_way()) {
    progress();
    pauses.pause();
  }
}

void Pauses::pause() noexcept {
  constexpr std::uint32_t turns_per_look_at_the_clock = 256;
  constexpr std::uint64_t nap_after_ns = 10'000'000;
  const std::uint32_t turn = turns_++;
  if (turn < spins()) return;
  if (!started_ns_ && turn >= turns_per_look_at_the_clock) started_ns_ = monotonic_ns();
  if (started_ns_ && monotonic_ns() - started_ns_ > nap_after_ns)
    nap();
  else
    sched_yield();
}

bool Pauses::pause_for(Request& awaited) noexcept {
  if (turns_ >= spins() + transports::few_yields && sleep_for(awaited)) return true;
  pause();
  return false;
}

std::uint32_t Pauses::spins() noexcept {
  return process.engine->oversubscribed() ? 0 : transports::spins_before_yield;
}

/// The MPI's own messages may need this rank before what it waits for changes: so it begins with shorter
/// sleeps than a blocking call. They grow, since each takes some 10 us from who computes on this core; but
/// not where others under way may need this rank too. Meanwhile the communicator stays. False: there is
/// something to do, or nothing in memory to wait for.
bool Pauses::sleep_for(Request& awaited) noexcept {
  Lock lock(progress_lock, std::try_to_lock);
  if (!lock || awaited.is_over() || !is_going_on(awaited)) return false;
  const transports::Waiting& waiting = awaited.operation().waiting();
  if (turns_ < spins() + waiting.yields) return false;
  // What it waits for is read before the last look, so that a change in between ends the sleep at once.
  const transports::Blocker blocker = awaited.operation().blocker();
  std::atomic<std::uint32_t>* const sleepers = waiting.sleepers;
  if (!blocker.word || !sleepers || awaited.advance() || has_gone_on(awaited)) return false;
  const long sleep_ns = next_sleep(is_needed_for_none_but(awaited));
  Communicator& communicator = awaited.communicator();
  add(communicator.requests_under_way, 1);
  lock.unlock();
  transports::sleep_among(*sleepers, blocker.word, blocker.seen, sleep_ns);
  lock.lock();
  add(communicator.requests_under_way, -1);
  if (!requests.is_empty()) look_after_one();
  return true;
}

long Pauses::next_sleep(bool may_grow) noexcept {
  constexpr long longest_sleep_ns = 1'000'000;
  if (!may_grow) next_sleep_ns_ = shortest_sleep_ns;
  return std::exchange(next_sleep_ns_, std::min(next_sleep_ns_ + next_sleep_ns_ / 2, longest_sleep_ns));
}

/// Since this was asked last: then data are coming, by ways that the one word does not show. So it has if
/// another one was waited for then.
bool Pauses::has_gone_on(const Request& awaited) noexcept {
  const Request* const awaited_before = std::exchange(awaited_, &awaited);
  const bool is_another = awaited_before && awaited_before != &awaited;
  const std::size_t before = std::exchange(progress_, awaited.operation().progress());
  if (!is_another && progress_ == before) return false;
  turns_ = 0;
  next_sleep_ns_ = shortest_sleep_ns;
  return true;
}

}  // namespace hocket::interpose
