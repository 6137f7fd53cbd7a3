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

Neighbourhood::Neighbourhood(std::vector<GroupNumbers> rows) : rows_(std::move(rows)) {
  if (rows_.empty()) throw Error("a neighbourhood of nobody");
  const Groups checked(rows_);  // throws
  for (GroupNumbers& row : rows_) row = renumbered(row);
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

bool Neighbourhood::follows(const By& by, std::size_t row) const {
  if (row == 0) return by.has(Level::nodes);
  return by.has(Level::switches) || (row == 1 && by.has(Level::leaves));
}

std::int16_t Neighbourhood::radix_on(const By& by, std::size_t row) const {
  if (row == 0) return by.radix(Level::nodes);
  return by.radix(row == 1 && by.has(Level::leaves) ? Level::leaves : Level::switches);
}

std::optional<Grouping> Neighbourhood::group(const By& by) const {
  std::vector<GroupNumbers> kept;
  std::vector<std::int16_t> radix;
  auto fewest = static_cast<std::uint32_t>(ranks());
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::uint32_t groups = groups_in(rows_[row]);
    if (!follows(by, row) || groups == fewest || groups == 1) continue;
    fewest = groups;
    kept.push_back(rows_[row]);
    radix.push_back(radix_on(by, row));
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
  std::vector<GroupNumbers> rows;
  for (const GroupNumbers& row : rows_) {
    GroupNumbers& renamed = rows.emplace_back();
    for (const Rank rank : order_) renamed.push_back(row[static_cast<std::size_t>(rank)]);
  }
  in_order_ = std::make_unique<Neighbourhood>(std::move(rows));
  return *in_order_;
}

}  // namespace hocket::passes
