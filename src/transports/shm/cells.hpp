// Two-sided access through a ring of cells per ordered pair of ranks: data are copied in and out, or, where
// they are large, lent: a cell says where they are, and the receiver reads them there. A lender need not do
// anything more while the receiver reads, but has to wait for that.
//
// A cell's first line holds its number in the stream, the sizes, and the data if they are short: a short
// message is one line transfer. The sender writes cells, the receiver only how many it has read, which the
// sender looks at when the ring seems full. A cell says how long its message is, so sizes that do not agree
// are noticed.
//
// Whether a receiver can read its sender's memory is found out by the two alone: the first message that might
// be lent asks, and is copied until the answer is there. docs/design/0010-loans.md
#pragma once

#include <cstddef>
#include <limits>
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
  /// `peers`: null where nobody is to read other ranks' memory. All of them outlive it.
  Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting, PeerMemory* peers = nullptr);

  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  /// Pieces of so many bytes are lent from now on, if the receiver can read them. Receivers take what comes:
  /// each rank may lend as it likes.
  void lend_from(std::size_t bytes) noexcept { least_loan_ = peers_ ? bytes : never; }

  /// The signature of the calls that the next messages belong to: the same on both sides, or the sizes will
  /// not agree.
  void sign(std::uint32_t signature) noexcept { stamp_ = static_cast<std::uint64_t>(signature) << 32U; }

  Status advance_send(Transfer& transfer) noexcept override;
  Status advance_recv(Transfer& transfer) noexcept override;
  Blocker send_blocker(const Transfer& transfer) const noexcept override;
  Blocker recv_blocker(const Transfer& transfer) const noexcept override;

 private:
  struct Pair;
  struct Cell;
  enum class Loans : std::uint32_t { unknown, asked, accepted, refused };
  /// This rank's side of its streams to and from one peer.
  struct Stream {
    std::uint32_t sent = 0;
    std::uint32_t read_by_peer = 0;  ///< as last seen
    std::uint32_t received = 0;
    Loans loans = Loans::unknown;  ///< to the peer
  };

  Pair& pair(Rank sender, Rank receiver) const noexcept;
  Cell& cell(Rank sender, Rank receiver, std::uint32_t index) const noexcept;
  bool has_read(Stream& stream, Rank peer, std::uint32_t number) const noexcept;
  Piece loan_wanted(const Transfer& transfer) const noexcept;
  std::size_t bytes_before_loan(const Transfer& transfer, const Stream& stream) const noexcept;
  bool may_lend(Stream& stream, Rank peer) const noexcept;
  void lend(Transfer& transfer, Piece run) noexcept;
  void copy_in(Transfer& transfer) noexcept;
  void publish(Transfer& transfer, Cell& cell) noexcept;
  void answer(Rank sender) noexcept;
  static void copy_out(Cell& cell, Transfer& transfer) noexcept;
  Status read_loan(const Cell& cell, Transfer& transfer) noexcept;

  std::byte* memory_;
  std::size_t payload_;  ///< of one cell
  Rank ranks_;
  Rank rank_;
  const Waiting& waiting_;
  PeerMemory* peers_;
  std::size_t least_loan_ = never;
  std::uint64_t stamp_ = 0;
  std::vector<Stream> streams_;
};

}  // namespace hocket::transports::shm
