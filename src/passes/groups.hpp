// Which ranks of a communicator are together, level by level: nodes, then the switches above them. One rank
// of each group speaks for it on the next level.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/collective.hpp"
#include "passes/tables.hpp"

namespace hocket::passes {

using ir::Rank;

/// The number of each rank's group.
using GroupNumbers = std::vector<std::uint32_t>;

/// Signed and unsigned numbers may be the same memory.
inline std::span<const Rank> as_ranks(Table table) {
  return {reinterpret_cast<const Rank*>(table.data()), table.size()};
}

/// A level: groups numbered from 0 in the order in which the ranks meet them.
struct Row {
  Table group_of;  ///< each rank's
  std::uint32_t groups = 0;
};

/// Numbers `count` groups in that order, by any numbers that tell them apart. The number of groups.
std::uint32_t number_groups(std::size_t count, const std::function<std::uint64_t(std::size_t)>& group_of,
                            NewTable numbers);

class Groups {
 public:
  /// One row for each level, innermost first: the number of each rank's group. A level's groups are unions of
  /// those of the level before. Throws Error if they are not, or if rows differ in length.
  explicit Groups(const std::vector<GroupNumbers>& group_of);
  /// Of rows for which all of this is known, in tables that stay; what follows from them is kept there, too.
  Groups(std::shared_ptr<Tables> tables, std::uint64_t name, std::vector<Row> rows);

  /// Beside the one above all, whose only group is everybody.
  std::size_t levels() const noexcept { return rows_.size(); }
  Rank ranks() const noexcept { return static_cast<Rank>(rows_.front().group_of.size()); }
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
  /// Members of the largest group of a level.
  Rank most_members(std::size_t level) const;
  /// All ranks of `rank`'s group on that level, in the order of ranks.
  std::span<const Rank> all_of(std::size_t level, Rank rank) const;

 private:
  Groups(const std::shared_ptr<OwnTables>& tables, const std::vector<GroupNumbers>& group_of);

  /// A list of ranks for each group.
  struct Lists {
    Table starts;  ///< in `ranks`, and the end of the last
    std::span<const Rank> ranks;
    std::size_t size() const { return starts.size() - 1; }
    std::span<const Rank> operator[](std::uint32_t group) const {
      return ranks.subspan(starts[group], starts[group + 1] - starts[group]);
    }
  };

  std::uint32_t groups_on(std::size_t level) const { return level == levels() ? 1 : rows_[level].groups; }
  std::uint32_t number_of(std::size_t level, Rank rank) const;
  std::size_t size_of_lists() const;
  void fill_lists(NewTable table) const;
  void read_lists(Table table);

  std::shared_ptr<Tables> tables_;
  std::vector<Row> rows_;
  std::vector<Lists> ranks_of_;   ///< of each level's groups; the last: everybody
  std::vector<Lists> fronts_of_;  ///< the lowest ranks of the groups inside each
  bool are_runs_ = true;
};

}  // namespace hocket::passes
