// All non-blocking collectives of this process that are under way, and who goes on with them: any call of MPI
// that may wait, and where the MPI offers it, its own progress engine.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/plugin/requests/request.hpp"
#include "transports/waiting.hpp"

namespace hocket::interpose {

/// Requests under way: one load tells that there is nothing to do.
extern std::atomic<std::uint32_t> under_way;
inline bool is_anything_under_way() noexcept {
  return under_way.load(std::memory_order_acquire) != 0;
}

/// Guards everything of non-blocking operations, on all communicators. Calls of the MPI under it may come
/// back by its progress engine: who only wants to help tries. The program's own functions are never called
/// under it, but for its reduction operations, which may not call MPI.
class ProgressLock {
 public:
  void lock() noexcept {
    if (!try_lock()) wait();
  }
  bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void wait() noexcept;

  std::atomic<bool> taken_{false};
};
extern constinit ProgressLock progress_lock;

/// Under the lock: it has been started and has a handle. It may be over at once.
void add_under_way(Request& request);

/// Nobody is going to wait for one of them: whoever else can goes on.
void go_on_without_waits() noexcept;

/// Requests that have been put under way so far.
std::uint64_t started_count() noexcept;

/// Goes on with all of them, and completes those that have ended.
void progress() noexcept;
/// Where nothing is under way: others may ask what has ended at this node's worker. Mostly does nothing.
void hear_of_workers() noexcept;
/// The same, for who waits for this one.
void progress_for(Request& awaited) noexcept;
/// How many it has completed.
std::uint32_t completed_count() noexcept;
/// How often progress() has been called, for who wants to know whether it is.
std::uint32_t progress_count() noexcept;

/// For threads of Hocket's own, and from within the MPI: goes on with those that need no more than this, and
/// completes none. True: something moved.
bool advance_needing(engine::Outstanding::Needs most) noexcept;

/// Until nothing of this communicator is under way; null: nothing at all.
void finish_all_of(const Communicator* communicator) noexcept;

/// The pauses of a wait, in which the caller looks again and again whether it is over.
class Pauses {
 public:
  void pause() noexcept;
  /// The same where nothing but this one is waited for: asleep if it takes long, so that whoever shares the
  /// core with this rank has it. True: it has slept, and the MPI has not been progressed meanwhile.
  bool pause_for(Request& awaited) noexcept;

 private:
  static std::uint32_t spins() noexcept;
  bool sleep_for(Request& awaited) noexcept;
  bool has_gone_on(const Request& awaited) noexcept;
  long next_sleep(bool may_grow) noexcept;

  static constexpr long shortest_sleep_ns = 100'000;
  std::uint32_t turns_ = 0;
  std::uint64_t started_ns_ = 0;
  long next_sleep_ns_ = shortest_sleep_ns;
  const Request* awaited_ = nullptr;
  std::size_t progress_ = 0;  ///< of what is waited for, as last seen
};

}  // namespace hocket::interpose
