// Two-sided access: copy-in copy-out through a ring of cells per ordered pair of ranks.
//
// A cell's first line holds its number in the stream, the sizes, and the data if they are short: a short
// message is one line transfer. The sender writes cells, the receiver only how many it has read, which the
// sender looks at when the ring seems full. A cell says how long its message is, so sizes that do not agree
// are noticed.
#pragma once

#include <vector>

#include "transports/transport.hpp"
#include "transports/waiting.hpp"

namespace hocket::transports::shm {

inline constexpr std::uint32_t cells_per_pair = 16;

/// Cells shrink as ranks grow: about a megabyte per rank, whatever the number of ranks.
std::size_t cell_bytes(Rank ranks);
std::size_t cells_bytes(Rank ranks);

class Cells final : public TwoSided {
 public:
  Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting);

  /// The signature of the calls that the next messages belong to: the same on both sides, or the sizes will
  /// not agree.
  void sign(std::uint32_t signature) noexcept { stamp_ = static_cast<std::uint64_t>(signature) << 32U; }

  Status advance_send(Transfer& transfer) noexcept override;
  Status advance_recv(Transfer& transfer) noexcept override;
  Blocker send_blocker(Rank peer) const noexcept override;
  Blocker recv_blocker(Rank peer) const noexcept override;

 private:
  struct Pair;
  struct Cell;
  /// This rank's side of its streams to and from one peer.
  struct Stream {
    std::uint32_t sent = 0;
    std::uint32_t read_by_peer = 0;  ///< as last seen
    std::uint32_t received = 0;
  };

  Pair& pair(Rank sender, Rank receiver) const noexcept;
  Cell& cell(Rank sender, Rank receiver, std::uint32_t index) const noexcept;
  bool is_full(Stream& stream, Rank peer) const noexcept;

  std::byte* memory_;
  std::size_t payload_;  ///< of one cell
  Rank ranks_;
  Rank rank_;
  const Waiting& waiting_;
  std::uint64_t stamp_ = 0;
  std::vector<Stream> streams_;
};

}  // namespace hocket::transports::shm
