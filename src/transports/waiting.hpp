// How a rank waits for another: spin while every rank has a core; yield at once where ranks share cores
// (measured: eight ranks on two cores need 2.7 us per operation when they yield at once, 11 us when they spin
// a little first, 20 us by futex wake-ups); sleep, bounded by a millisecond (on shared cores and between
// nodes by ten), when the wait is long. While waiting, the MPI below is progressed.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "ir/collective.hpp"
#include "transports/transport.hpp"

namespace hocket::transports {

using ir::Rank;

/// Some 10 us: a running peer's hand-over; then the core may be somebody else's.
inline constexpr std::uint32_t spins_before_yield = 512;
inline constexpr std::uint32_t yields_before_sleep = 256;
/// Where what is waited for comes from another node: no short wait, in which others may have the core.
inline constexpr std::uint32_t few_yields = 16;
inline constexpr std::uint64_t shortest_sleep_ns = 1'000'000;

enum class WaitMode : std::uint8_t { spin, yield, sleep };

/// Asked once per millisecond of a wait, and less and less often the longer it is, but 15 times a second at
/// least; anything but ok ends the wait.
class Watch {
 public:
  /// `peer`: a rank, or nobody.
  virtual Status look(Rank peer, std::uint64_t waited_ns) noexcept = 0;

 protected:
  ~Watch() = default;
};

/// Shared by all waits of a communicator.
struct Waiting {
  WaitMode mode = WaitMode::spin;
  bool (*poke)(void* context) noexcept = nullptr;  ///< whether other operations are under way
  void* poke_context = nullptr;
  Watch* watch = nullptr;
  std::atomic<std::uint32_t>* sleepers = nullptr;  ///< in shared memory: how many ranks sleep
  std::uint32_t yields = yields_before_sleep;
  std::uint64_t longest_sleep_ns = shortest_sleep_ns;  ///< on shared cores
};

/// One wait. pause() lets time pass until the 4 bytes at `word` may have changed from `seen`. Without a word
/// the caller finds out by asking, as of peers on other nodes: then a pause is a short one, or ends with what
/// a descriptor has to tell.
class Patience {
 public:
  Patience(const Waiting& waiting, Rank peer) noexcept : waiting_(waiting), peer_(peer) {}
  /// Another wait begins.
  void renew(Rank peer) noexcept;
  Status pause(const void* word, std::uint32_t seen) noexcept;
  /// The same for what a rank waits for; the peer is that of the wait.
  Status pause(const Blocker& blocker) noexcept;

 private:
  Status pause_for(const void* word, std::uint32_t seen) noexcept;
  Status pause_between_asks() noexcept;
  Status rest(const Blocker& blocker) noexcept;
  Status sleep(const void* word, std::uint32_t seen) noexcept;
  Status nap() noexcept;
  std::uint64_t share_of_wait_ns(std::uint64_t longest_ns) noexcept;
  Status watch(std::uint64_t now_ns) noexcept;
  void poke() noexcept { has_more_to_do_ = waiting_.poke && waiting_.poke(waiting_.poke_context); }

  const Waiting& waiting_;
  Rank peer_;
  std::uint32_t turns_ = 0;
  std::uint64_t started_ns_ = 0;
  std::uint64_t looked_ns_ = 0;  ///< when the watch was asked last
  std::uint64_t rested_ns_ = 0;  ///< when the MPI was asked last by who sleeps on descriptors
  bool has_more_to_do_ = false;  ///< other operations of this rank, when it was poked last
};

/// After a store that a sleeping rank may wait for. A wake-up that is missed costs the sleeper its bounded
/// sleep, no more.
void wake(const void* word) noexcept;

/// Until the 4 bytes at `word` have changed from `seen` and somebody wakes it, or for so long at most.
void sleep_among(std::atomic<std::uint32_t>& sleepers, const void* word, std::uint32_t seen,
                 long most_ns) noexcept;

/// Until the 4 bytes at `word` have changed from `seen` and somebody wakes it, or for no reason.
void sleep_on(const void* word, std::uint32_t seen) noexcept;

inline void wake_sleepers(const Waiting& waiting, const void* word) noexcept {
  if (waiting.sleepers->load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake(word);
}

}  // namespace hocket::transports
