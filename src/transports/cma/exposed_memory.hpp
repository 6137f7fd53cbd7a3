// One-sided access to peers' user memory, over staging's steps and flags: a rank publishes where its buffers
// are, and peers that have seen its signal read them by the kernel. Used only after the test of card.hpp has
// worked among all ranks.
#pragma once

#include <span>
#include <vector>

#include "transports/shm/channel.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::cma {

/// Why a read did not work; error 0: none failed.
struct ReadFailure {
  Rank peer = 0;
  int error = 0;
};

class ExposedMemory final : public OneSided {
 public:
  /// `processes`: by rank. `below` carries steps and staging of the same instances.
  ExposedMemory(OneSided& below, shm::Channel& channel, std::vector<pid_t> processes)
      : below_(below), channel_(channel), processes_(std::move(processes)) {}

  std::byte* own_staging() noexcept override { return below_.own_staging(); }
  const std::byte* staging_of(Rank owner) noexcept override { return below_.staging_of(owner); }
  void signal(std::uint32_t step) noexcept override { below_.signal(step); }
  Status reached(Rank peer, std::uint32_t step) noexcept override { return below_.reached(peer, step); }
  Blocker blocker(Rank peer) const noexcept override { return below_.blocker(peer); }
  void everyone_reached() noexcept override { below_.everyone_reached(); }

  void expose(bool output, const void* base) noexcept override;
  Status read_exposed(Rank owner, bool output, std::ptrdiff_t offset, Piece target) noexcept override;

  const ReadFailure& failure() const noexcept { return failure_; }

 private:
  OneSided& below_;
  shm::Channel& channel_;
  std::vector<pid_t> processes_;
  ReadFailure failure_;
};

}  // namespace hocket::transports::cma
