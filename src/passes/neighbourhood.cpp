#include "passes/neighbourhood.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace hocket::passes {
namespace {

std::uint32_t groups_in(const GroupNumbers& numbers) {
  return *std::ranges::max_element(numbers) + 1;
}

std::vector<GroupNumbers> from_inside(const GroupNumbers& sockets, const std::vector<GroupNumbers>& rows) {
  std::vector<GroupNumbers> all;
  if (!sockets.empty()) all.push_back(sockets);
  all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

/// Compares two ranks from the outermost level inwards.
bool is_before(const std::vector<GroupNumbers>& rows, Rank a, Rank b) {
  for (std::size_t level = rows.size(); level-- > 0;) {
    const std::uint32_t of_a = rows[level][static_cast<std::size_t>(a)];
    const std::uint32_t of_b = rows[level][static_cast<std::size_t>(b)];
    if (of_a != of_b) return of_a < of_b;
  }
  return a < b;
}

}  // namespace

Neighbourhood::Neighbourhood(std::vector<GroupNumbers> rows, GroupNumbers sockets)
    : rows_(std::move(rows)), sockets_(std::move(sockets)) {
  if (rows_.empty()) throw Error("a neighbourhood of nobody");
  for (GroupNumbers& row : rows_) row = renumbered(row);
  sockets_ = renumbered(sockets_);
  const Groups checked(from_inside(sockets_, rows_));  // throws
  order_.resize(rows_.front().size());
  std::iota(order_.begin(), order_.end(), Rank{0});
  std::ranges::sort(order_, [&](Rank a, Rank b) { return is_before(rows_, a, b); });
  is_in_order_ = std::ranges::is_sorted(order_);
}

std::size_t Neighbourhood::distance(Rank a, Rank b) const {
  std::size_t row = 0;
  while (row < rows_.size() && group(row, a) != group(row, b)) ++row;
  return row;
}

std::vector<Neighbourhood::Followed> Neighbourhood::followed(const By& by) const {
  std::vector<Followed> all;
  const bool counts_as_one = sockets_.empty() && by.has(Level::nodes);  // a node of which none are known
  if (by.has(Level::sockets) && (!sockets_.empty() || counts_as_one))
    all.push_back({counts_as_one ? rows_[0] : sockets_, Level::sockets});
  if (by.has(Level::nodes)) all.push_back({rows_[0], Level::nodes});
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    const Level level = row == 1 && by.has(Level::leaves) ? Level::leaves : Level::switches;
    if (by.has(level)) all.push_back({rows_[row], level});
  }
  return all;
}

std::optional<Grouping> Neighbourhood::group(const By& by) const {
  std::vector<GroupNumbers> kept;
  std::vector<std::int16_t> radix;
  auto fewest = static_cast<std::uint32_t>(ranks());
  for (const Followed& each : followed(by)) {
    const std::uint32_t groups = groups_in(each.numbers);
    if (groups == 1) continue;
    if (groups == fewest) {  // the groups of the level inside, or everybody is alone
      if (!radix.empty() && radix.back() == By::preset) radix.back() = by.radix(each.level);
      continue;
    }
    fewest = groups;
    kept.push_back(each.numbers);
    radix.push_back(by.radix(each.level));
  }
  if (kept.empty()) return std::nullopt;
  return Grouping{Groups(std::move(kept)), std::move(radix)};
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
  const auto renamed = [&](const GroupNumbers& row) {
    GroupNumbers result;
    if (row.empty()) return result;
    for (const Rank rank : order_) result.push_back(row[static_cast<std::size_t>(rank)]);
    return result;
  };
  std::vector<GroupNumbers> rows;
  for (const GroupNumbers& row : rows_) rows.push_back(renamed(row));
  in_order_ = std::make_unique<Neighbourhood>(std::move(rows), renamed(sockets_));
  return *in_order_;
}

}  // namespace hocket::passes
