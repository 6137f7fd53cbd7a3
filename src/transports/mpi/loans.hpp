// Messages between ranks of a node that stay where their sender has them until their receiver has read them
// there, by the kernel: one copy, made by the one that needs it, and the MPI is asked for nothing
// (docs/design/0010-loans.md).
//
// Whether a rank may read another's memory shows when it tries. One that may not says so, and that rank lends
// it nothing again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/mpi/envelope.hpp"
#include "transports/shm/node_ranks.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::mpi {

class Loans {
 public:
  static constexpr std::uint32_t greatest_number = 0x7fffffff;  ///< after it they begin anew

  /// `mates`: the ranks of this node. `memory`: theirs, by their place in it. Messages of less than
  /// `least_bytes` are not lent, nor any that may be sent without waiting until they have left (eager_bytes).
  /// `pay`: whether a read costs less here than two copies through memory that both map; asked once at most.
  Loans(shm::NodeRanks mates, std::unique_ptr<PeerMemory> memory, std::size_t least_bytes,
        std::function<bool()> pay);

  // for who lends

  /// Whether this mate may get so many bytes that lie in one piece.
  bool suit(Rank to, std::size_t bytes) const noexcept;
  /// Whether a read costs less than two copies through memory that both map.
  bool pay() noexcept;
  /// Keeps in mind that `data` are lent. False: no memory.
  bool lend(Rank to, const std::byte* data, const void* owner, Loan& loan) noexcept;
  /// pending: not returned yet. ok: read. failed: the mate cannot read it. The last two end it.
  Status look(std::uint32_t number) noexcept;
  /// What came back from a mate, maybe of a loan that was given up.
  void take_back(const Return& returned) noexcept;
  /// Ends this loan, which was not told to anybody.
  void withdraw(std::uint32_t number) noexcept;
  void abandon(const void* owner) noexcept;

  // for who borrows

  /// Into the pieces. False: it cannot be read, or nobody knows whose memory that would be.
  bool read(Rank from, const Loan& loan, std::span<const Piece> pieces) noexcept;

  /// What became of the loans of others here, for reports.
  struct Counts {
    std::uint64_t read = 0;
    std::uint64_t unreadable = 0;
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  enum class State : std::uint8_t { lent, read, unreadable };
  struct Lent {
    std::uint32_t number = 0;
    Rank place = 0;  ///< of the mate
    const void* owner = nullptr;
    State state = State::lent;
  };

  enum class Reads : std::uint8_t { untried, yes, no };

  bool can_read(Rank place) noexcept;

  const shm::NodeRanks mates_;
  const std::unique_ptr<PeerMemory> memory_;
  const std::size_t least_bytes_;
  const std::function<bool()> measure_;
  std::optional<bool> pay_;
  std::vector<std::uint8_t> cannot_read_;  ///< this rank's memory, by the mate's place
  std::vector<Reads> reads_;               ///< this rank the mate's, by its place
  std::vector<Lent> lent_;                 ///< few at a time
  std::uint32_t last_ = 0;
  bool is_admitting_ = false;
  Counts counts_;
};

}  // namespace hocket::transports::mpi
