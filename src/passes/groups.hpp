// Which ranks of a communicator are together, level by level: nodes, then the switches above them. One rank
// of each group speaks for it on the next level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::passes {

using ir::Rank;

/// The number of each rank's group.
using GroupNumbers = std::vector<std::uint32_t>;

/// The same groups, numbered from 0 in the order in which the ranks meet them.
GroupNumbers renumbered(const GroupNumbers& numbers);

class Groups {
 public:
  /// One row for each level, innermost first: the number of each rank's group. A level's groups are unions of
  /// those of the level before. Throws Error if they are not, or if rows differ in length.
  explicit Groups(std::vector<GroupNumbers> group_of);

  /// Beside the one above all, whose only group is everybody.
  std::size_t levels() const noexcept { return group_of_.size(); }
  Rank ranks() const noexcept { return ranks_; }
  /// All groups of the outermost level have as many ranks.
  bool are_equal() const noexcept;
  /// Every group of every level is a run of consecutive ranks: results of groups can be folded in the order
  /// of ranks.
  bool are_runs() const noexcept { return are_runs_; }

  /// Those of `rank`'s group on a level (levels(): of all ranks) who take part there: all ranks on level 0,
  /// then the leaders of the groups below; in the order of ranks. The root leads wherever it is;
  /// elsewhere the leader of the turn-th group inside does, counted round and round by lowest ranks: the
  /// lowest rank of all for turn 0.
  std::vector<Rank> members(std::size_t level, Rank rank, Rank root, std::uint32_t turn = 0) const;
  Rank leader(std::size_t level, Rank rank, Rank root, std::uint32_t turn = 0) const;
  /// All ranks of `rank`'s group on that level, in the order of ranks.
  std::span<const Rank> all_of(std::size_t level, Rank rank) const;

 private:
  std::uint32_t number_of(std::size_t level, Rank rank) const;
  const std::vector<Rank>& fronts_of(std::size_t level, Rank rank) const;

  std::vector<GroupNumbers> group_of_;                     ///< levels() rows, renumbered from 0
  std::vector<std::vector<std::vector<Rank>>> ranks_of_;   ///< of each level's groups; the last: everybody
  std::vector<std::vector<std::vector<Rank>>> fronts_of_;  ///< the lowest ranks of the groups inside each
  Rank ranks_ = 0;
  bool are_runs_ = true;
};

}  // namespace hocket::passes
