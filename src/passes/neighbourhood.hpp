// Where the ranks of a communicator are: who shares a node with whom, and a switch. All ranks know the same.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "passes/groups.hpp"
#include "passes/levels.hpp"

namespace hocket::passes {

/// The groups of a hierarchy, and the width of the trees inside them, level by level.
struct Grouping {
  Groups groups;
  std::vector<std::int16_t> radix;
};

class Neighbourhood {
 public:
  /// The number of each rank's node; then, from the inside out, of the group that it is in under each level
  /// of switches. `sockets`: the number of each rank's socket, or nothing if that is not known; messages
  /// within a node cost the same (distance 0). Throws Error as Groups does.
  explicit Neighbourhood(std::vector<GroupNumbers> rows, GroupNumbers sockets = {});

  Rank ranks() const noexcept { return static_cast<Rank>(rows_.front().size()); }
  /// Levels in which every rank is alone, or all are together, or nobody joins who was not together before,
  /// are left out. Of several levels with the same groups the innermost width that is asked for counts. Null
  /// if no level is left.
  const Grouping* grouped(const By& by) const;
  /// The number of a rank's group: of its node (row 0), or under its switch of a level (from row 1 on).
  std::uint32_t group(std::size_t row, Rank rank) const { return rows_[row][static_cast<std::size_t>(rank)]; }
  /// How many kinds of boundaries a message between them crosses: 0 on one node, 1 under one switch, ...
  std::size_t distance(Rank a, Rank b) const;
  /// The ranks in such an order that near ones are neighbours, on every level but sockets: inside a node they
  /// stay as they are, so that blocks for it stay together.
  std::span<const Rank> order() const noexcept { return order_; }
  bool is_in_order() const noexcept { return is_in_order_; }
  /// The same ranks, renumbered in that order.
  const Neighbourhood& in_order() const;

 private:
  /// What a hierarchy may follow: a row, and the word that asks for it.
  struct Followed {
    const GroupNumbers& numbers;
    Level level;
  };
  std::vector<Followed> followed(const By& by) const;
  std::optional<Grouping> group(const By& by) const;

  struct Known {
    By by;
    std::optional<Grouping> grouping;
  };
  std::vector<GroupNumbers> rows_;
  GroupNumbers sockets_;  ///< empty: not known
  std::vector<Rank> order_;
  bool is_in_order_ = true;
  mutable std::vector<std::unique_ptr<Known>> known_;  ///< by what was asked for
  mutable std::unique_ptr<Neighbourhood> in_order_;
};

}  // namespace hocket::passes
