// One-sided access to peers' user memory, over staging's steps and flags: a rank publishes where its buffers
// are, and peers that have seen its signal read them by the kernel. Used only after the test of card.hpp has
// worked among all ranks.
#pragma once

#include "transports/cma/peer_memory.hpp"
#include "transports/shm/lines.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::cma {

/// `Below` carries steps and staging of the same instances, and has the flag lines that they are told in.
template <class Below>
class ExposedMemory final : public OneSided {
 public:
  /// Both outlive it.
  ExposedMemory(Below& below, PeerMemory& peers) noexcept : below_(below), peers_(peers) {}

  std::byte* own_staging() noexcept override { return below_.own_staging(); }
  const std::byte* staging_of(Rank owner) noexcept override { return below_.staging_of(owner); }
  void signal(std::uint32_t step) noexcept override { below_.signal(step); }
  Status reached(Rank peer, std::uint32_t step) noexcept override { return below_.reached(peer, step); }
  Blocker blocker(Rank peer) const noexcept override { return below_.blocker(peer); }
  void everyone_reached() noexcept override { below_.everyone_reached(); }

  /// The signal that follows publishes it.
  void expose(bool output, const void* base) noexcept override {
    shm::Signals& own = below_.own_line().signals;
    (output ? own.output : own.input)
        .store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
  }

  Status read_exposed(Rank owner, bool output, std::ptrdiff_t offset, Piece target) noexcept override {
    const shm::Signals& theirs = below_.line_of(owner).signals;
    const std::uint64_t base = (output ? theirs.output : theirs.input).load(std::memory_order_relaxed);
    return peers_.read(owner, base + static_cast<std::uint64_t>(offset), target);
  }

 private:
  Below& below_;
  PeerMemory& peers_;
};

}  // namespace hocket::transports::cma
