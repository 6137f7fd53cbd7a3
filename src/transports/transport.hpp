// The contract between executors and the ways in which bytes move. A transport does not know what a broadcast
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "ir/collective.hpp"

namespace hocket::transports {

using ir::Rank;

struct Piece {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// One send or recv in flight. The pieces outlive it.
struct Transfer {
  Rank peer = 0;
  std::span<const Piece> pieces;
  std::size_t done = 0;  ///< bytes moved so far
  std::size_t total = 0;
  bool started = false;
  std::uint64_t state = 0;  ///< the transport's own; 0 when the transfer begins
};

/// Peer of what a rank waits for by its own doing: that an earlier operation of its own goes on.
inline constexpr Rank nobody = -1;

/// What a rank waits for: that `word`, which was `seen`, changes by the doing of `peer`.
struct Blocker {
  const void* word = nullptr;  ///< a futex word, 4 bytes; null: nothing in memory shows it, ask again
  std::uint32_t seen = 0;
  Rank peer = nobody;
  /// Without a word: poll(2) tells when to ask again, by these events of this descriptor; -1: nothing does.
  int descriptor = -1;
  short events = 0;
};

/// Two-sided: a stream per ordered pair of ranks, in the order in which transfers are first advanced.
class TwoSided {
 public:
  virtual ~TwoSided() = default;
  /// Before a turn of transfers that wait: finds out what has come, where that takes asking.
  virtual void take_in() noexcept {}
  /// Move what can be moved now, without waiting. ok: complete; pending: again later.
  virtual Status advance_send(Transfer& transfer) noexcept = 0;
  virtual Status advance_recv(Transfer& transfer) noexcept = 0;
  /// What a transfer that was pending waits for.
  virtual Blocker send_blocker(const Transfer& transfer) const noexcept = 0;
  virtual Blocker recv_blocker(const Transfer& transfer) const noexcept = 0;
};

/// Peers' own memory, where the kernel lets one process read another's.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  /// Lets peers read this rank's, as far as that is its own to allow.
  virtual void admit() noexcept = 0;
  /// Whether this rank can read that peer's, which has admitted it: found out by trying.
  virtual bool is_readable(Rank peer) noexcept = 0;
  virtual Status read(Rank peer, std::uint64_t address, Piece target) noexcept = 0;
};

/// One-sided: staging buffers that peers read, steps that peers wait for. All of one instance (call or
/// segment of it).
class OneSided {
 public:
  virtual ~OneSided() = default;
  virtual std::byte* own_staging() noexcept = 0;
  virtual const std::byte* staging_of(Rank owner) noexcept = 0;
  virtual void signal(std::uint32_t step) noexcept = 0;
  virtual Status reached(Rank peer, std::uint32_t step) noexcept = 0;  ///< ok, pending, or an error
  virtual Blocker blocker(Rank peer) const noexcept = 0;
  virtual void everyone_reached() noexcept {}  ///< all peers were seen in this instance
  /// Exposed user memory, where the transport can read it.
  virtual void expose(bool output, const void* base) noexcept { (void)output, (void)base; }
  virtual Status read_exposed(Rank owner, bool output, std::ptrdiff_t offset, Piece target) noexcept {
    return (void)owner, (void)output, (void)offset, (void)target, Status::failed;
  }
};

}  // namespace hocket::transports
