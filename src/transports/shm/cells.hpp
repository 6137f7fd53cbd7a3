// Two-sided access: copy-in copy-out through a ring of cells per ordered pair of ranks. A cell says how long its message is, so
// sizes that do not agree are noticed. Sender-owned: only `head` is written by the receiver.
#pragma once

#include "transports/transport.hpp"
#include "transports/waiting.hpp"

namespace hocket::transports::shm {

inline constexpr std::uint32_t cells_per_pair = 4;

/// Cells shrink as ranks grow: about a megabyte per rank, whatever the number of ranks.
std::size_t cell_bytes(Rank ranks);
std::size_t cells_bytes(Rank ranks);

class Cells final : public TwoSided {
 public:
  Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting) noexcept;

  Status advance_send(Transfer& transfer) noexcept override;
  Status advance_recv(Transfer& transfer) noexcept override;
  Blocker send_blocker(Rank peer) const noexcept override;
  Blocker recv_blocker(Rank peer) const noexcept override;

 private:
  struct Pair;
  struct Cell;
  Pair& pair(Rank sender, Rank receiver) const noexcept;
  Cell& cell(Rank sender, Rank receiver, std::uint32_t index) const noexcept;

  std::byte* memory_;
  std::size_t payload_;  ///< of one cell
  Rank ranks_;
  Rank rank_;
  const Waiting& waiting_;
};

}  // namespace hocket::transports::shm
