// Where the ranks of a communicator are: who shares a node with whom, and a switch. All ranks know the same.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "passes/groups.hpp"
#include "passes/levels.hpp"
#include "passes/tables.hpp"

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
  explicit Neighbourhood(const std::vector<GroupNumbers>& rows, const GroupNumbers& sockets = {});

  static constexpr std::size_t most_rows = 48;
  struct Shape {
    Rank ranks = 0;
    std::size_t rows = 1;
    bool knows_sockets = false;
  };
  /// A number that tells a rank's group of a row from others; row `Shape::rows` is that of sockets.
  using Source = std::function<std::uint64_t(std::size_t row, Rank rank)>;
  /// Of groups that are known to be nested. `tables` are those of these ranks alone.
  Neighbourhood(std::shared_ptr<Tables> tables, const Shape& shape, const Source& source);

  Rank ranks() const noexcept { return shape_.ranks; }
  std::uint32_t nodes() const noexcept { return rows_.front().groups; }
  /// Levels in which every rank is alone, or all are together, or nobody joins who was not together before,
  /// are left out. Of several levels with the same groups the innermost width that is asked for counts. Null
  /// if no level is left.
  const Grouping* grouped(const By& by) const;
  std::size_t rows() const noexcept { return shape_.rows; }
  /// As the constructors take them: of a row, each rank's; and of sockets, if they are known.
  Table groups(std::size_t row) const { return rows_[row].group_of; }
  Table sockets() const { return shape_.knows_sockets ? rows_.back().group_of : Table(); }
  /// The number of a rank's group: of its node (row 0), or under its switch of a level (from row 1 on).
  std::uint32_t group(std::size_t row, Rank rank) const {
    return rows_[row].group_of[static_cast<std::size_t>(rank)];
  }
  /// How many kinds of boundaries a message between them crosses: 0 on one node, 1 under one switch, ...
  std::size_t distance(Rank a, Rank b) const;
  /// The ranks in such an order that near ones are neighbours, on every level but sockets: inside a node they
  /// stay as they are, so that blocks for it stay together.
  std::span<const Rank> order() const noexcept { return order_; }
  /// The place of each rank in it.
  std::span<const Rank> places_in_order() const noexcept { return places_; }
  bool is_in_order() const noexcept { return is_in_order_; }
  /// The same ranks, renumbered in that order.
  const Neighbourhood& in_order() const;

 private:
  Neighbourhood(std::shared_ptr<Tables> tables, const Shape& shape, const Source& source, bool in_order);

  /// What a hierarchy may follow: a row, and the word that asks for it.
  struct Followed {
    std::size_t row;
    Level level;
  };
  std::size_t all_rows() const { return shape_.rows + (shape_.knows_sockets ? 1 : 0); }
  std::size_t size_of_table() const;
  void fill(NewTable table, const Source& source) const;
  void read(Table table);
  std::vector<Followed> followed(const By& by) const;
  std::optional<Grouping> group(const By& by) const;

  struct Known {
    By by;
    std::optional<Grouping> grouping;
  };
  std::shared_ptr<Tables> tables_;
  Shape shape_;
  bool is_renumbered_;     ///< the ranks are those of another neighbourhood, in order
  std::vector<Row> rows_;  ///< the last: of sockets, if they are known
  std::span<const Rank> order_, places_;
  bool is_in_order_ = true;
  mutable std::vector<std::unique_ptr<Known>> known_;  ///< by what was asked for
  mutable std::unique_ptr<Neighbourhood> in_order_;
};

}  // namespace hocket::passes
