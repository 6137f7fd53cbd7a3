#include "passes/neighbourhood.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace hocket::passes {
namespace {

Neighbourhood::Shape shape_of(const std::vector<GroupNumbers>& rows, const GroupNumbers& sockets) {
  if (rows.empty()) throw Error("a neighbourhood of nobody");
  if (rows.size() > Neighbourhood::most_rows) throw Error("there are too many levels of switches");
  std::vector<GroupNumbers> from_inside = rows;
  if (!sockets.empty()) from_inside.insert(from_inside.begin(), sockets);
  const Groups checked(from_inside);  // throws
  return {checked.ranks(), rows.size(), !sockets.empty()};
}

/// Compares two ranks from the outermost level inwards.
bool is_before(std::span<const Table> rows, std::uint32_t a, std::uint32_t b) {
  for (std::size_t level = rows.size(); level-- > 0;)
    if (rows[level][a] != rows[level][b]) return rows[level][a] < rows[level][b];
  return a < b;
}

}  // namespace

Neighbourhood::Neighbourhood(const std::vector<GroupNumbers>& rows, const GroupNumbers& sockets)
    : Neighbourhood(std::make_shared<OwnTables>(), shape_of(rows, sockets), [&](std::size_t row, Rank rank) {
        return (row == rows.size() ? sockets : rows[row])[static_cast<std::size_t>(rank)];
      }) {}

Neighbourhood::Neighbourhood(std::shared_ptr<Tables> tables, const Shape& shape, const Source& source)
    : Neighbourhood(std::move(tables), shape, source, false) {}

Neighbourhood::Neighbourhood(std::shared_ptr<Tables> tables, const Shape& shape, const Source& source,
                             bool in_order)
    : tables_(std::move(tables)), shape_(shape), is_renumbered_(in_order) {
  const std::uint64_t name = is_renumbered_ ? 1 : 0;
  read(tables_->get(name, size_of_table(), [&](NewTable table) { fill(table, source); }));
}

/// How many groups each row has; the rows; the order, and each rank's place in it.
std::size_t Neighbourhood::size_of_table() const {
  return all_rows() + (all_rows() + 2) * static_cast<std::size_t>(shape_.ranks);
}

void Neighbourhood::fill(NewTable table, const Source& source) const {
  const auto ranks = static_cast<std::size_t>(shape_.ranks);
  PartsOf<std::uint32_t> parts(table);
  const NewTable groups = parts.next(all_rows());
  std::vector<Table> rows;
  for (std::size_t row = 0; row < all_rows(); ++row) {
    const NewTable numbers = parts.next(ranks);
    groups[row] =
        number_groups(ranks, [&](std::size_t rank) { return source(row, static_cast<Rank>(rank)); }, numbers);
    if (row < shape_.rows) rows.push_back(numbers);
  }
  const NewTable order = parts.next(ranks);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return is_before(rows, a, b); });
  const NewTable places = parts.next(ranks);
  for (std::uint32_t place = 0; place < ranks; ++place) places[order[place]] = place;
}

void Neighbourhood::read(Table table) {
  const auto ranks = static_cast<std::size_t>(shape_.ranks);
  PartsOf<const std::uint32_t> parts(table);
  const Table groups = parts.next(all_rows());
  for (const std::uint32_t each : groups) rows_.push_back({parts.next(ranks), each});
  order_ = as_ranks(parts.next(ranks));
  places_ = as_ranks(parts.next(ranks));
  is_in_order_ = std::ranges::is_sorted(order_);
}

std::size_t Neighbourhood::distance(Rank a, Rank b) const {
  std::size_t row = 0;
  while (row < shape_.rows && group(row, a) != group(row, b)) ++row;
  return row;
}

std::vector<Neighbourhood::Followed> Neighbourhood::followed(const By& by) const {
  std::vector<Followed> all;
  const std::size_t sockets = shape_.rows;
  const bool counts_as_one = !shape_.knows_sockets && by.has(Level::nodes);  // a node of which none are known
  if (by.has(Level::sockets) && (shape_.knows_sockets || counts_as_one))
    all.push_back({counts_as_one ? 0 : sockets, Level::sockets});
  if (by.has(Level::nodes)) all.push_back({0, Level::nodes});
  for (std::size_t row = 1; row < shape_.rows; ++row) {
    const Level level = row == 1 && by.has(Level::leaves) ? Level::leaves : Level::switches;
    if (by.has(level)) all.push_back({row, level});
  }
  return all;
}

std::optional<Grouping> Neighbourhood::group(const By& by) const {
  std::vector<Row> kept;
  std::vector<std::int16_t> radix;
  auto fewest = static_cast<std::uint32_t>(ranks());
  std::uint64_t name = is_renumbered_ ? 1 : 0;
  for (const Followed& each : followed(by)) {
    const std::uint32_t groups = rows_[each.row].groups;
    if (groups == 1) continue;
    if (groups == fewest) {  // the groups of the level inside, or everybody is alone
      if (!radix.empty() && radix.back() == By::preset) radix.back() = by.radix(each.level);
      continue;
    }
    fewest = groups;
    kept.push_back(rows_[each.row]);
    radix.push_back(by.radix(each.level));
    name |= std::uint64_t{2} << each.row;
  }
  if (kept.empty()) return std::nullopt;
  return Grouping{Groups(tables_, name, std::move(kept)), std::move(radix)};
}

const Grouping* Neighbourhood::grouped(const By& by) const {
  auto known = std::ranges::find_if(known_, [&](const auto& k) { return k->by == by; });
  if (known == known_.end()) {
    known_.push_back(std::make_unique<Known>(Known{by, group(by)}));
    known = known_.end() - 1;
  }
  const auto& grouping = (*known)->grouping;
  return grouping ? &*grouping : nullptr;
}

const Neighbourhood& Neighbourhood::in_order() const {
  if (in_order_) return *in_order_;
  const auto renamed = [this](std::size_t row, Rank rank) {
    return group(row, order_[static_cast<std::size_t>(rank)]);
  };
  in_order_.reset(new Neighbourhood(tables_, shape_, renamed, true));
  return *in_order_;
}

}  // namespace hocket::passes
