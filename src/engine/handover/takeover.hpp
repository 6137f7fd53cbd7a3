// How the ranks of a communicator go on by themselves when a worker has gone: they tell each other what has
// ended before, and carry out the rest.
//
// An operation ends on a rank when it has ended on all (worker/carried.hpp): what has ended anywhere needs
// nothing more anywhere, and of what has not every rank still has its input. Each rank says once what it has
// started and which of that has not ended, and nothing ends at workers from then on; with the words of all,
// all know the same. docs/design/0016-worker-processes.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::engine::handover {

using ir::Rank;

/// What a rank says.
struct Account {
  std::uint32_t last = 0;                 ///< the last number that it has started
  std::vector<std::uint32_t> unfinished;  ///< of those up to it
  bool is_answer = false;                 ///< of who has freed the communicator: it lacks nothing itself
};

/// In a message between ranks. Throws Error for what is none, or too long to be told.
std::vector<std::byte> encode(const Account& account);
Account decode_account(std::span<const std::byte> bytes);

class Takeover {
 public:
  explicit Takeover(std::size_t ranks) : accounts_(ranks) {}

  /// Of the rank `from` of the communicator. The first one counts.
  void hear(std::size_t from, Account account);
  /// Of somebody who has not said anything yet; -1: all have.
  Rank awaited() const noexcept;
  bool is_agreed() const noexcept { return awaited() < 0; }
  /// Once it is agreed: the operation of this number has ended, on all ranks.
  bool has_ended(std::uint32_t number) const noexcept;

 private:
  std::vector<std::optional<Account>> accounts_;  ///< by rank
  std::size_t first_silent_ = 0;                  ///< those before have said theirs
};

}  // namespace hocket::engine::handover
