#include "passes/groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"

namespace hocket::passes {
namespace {

/// The indices of equal numbers, list by list: `starts` of each list, and the end of the last.
void sort_by_number(Table numbers, NewTable starts, NewTable indices) {
  std::ranges::fill(starts, 0);
  for (const std::uint32_t number : numbers) ++starts[number + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) indices[starts[numbers[i]]++] = i;
  std::shift_right(starts.begin(), starts.end(), 1);  // each had moved on to where the next one starts
  starts[0] = 0;
}

bool is_run(std::span<const Rank> group) {
  return static_cast<std::size_t>(group.back() - group.front()) + 1 == group.size();
}

/// Whoever is together inside is so outside.
bool is_nested(const Row& inner, Table outer) {
  std::vector<std::uint32_t> outside(inner.groups);
  std::uint32_t met = 0;
  for (std::size_t rank = 0; rank < outer.size(); ++rank) {
    const std::uint32_t group = inner.group_of[rank];
    if (group == met) outside[met++] = outer[rank];
    if (outside[group] != outer[rank]) return false;
  }
  return true;
}

Row numbered_row(OwnTables& tables, std::uint64_t name, const GroupNumbers& numbers) {
  Row row;
  row.group_of = tables.get(name, numbers.size(), [&](NewTable table) {
    row.groups = number_groups(numbers.size(), [&](std::size_t rank) { return numbers[rank]; }, table);
  });
  return row;
}

std::vector<Row> checked_rows(OwnTables& tables, const std::vector<GroupNumbers>& group_of) {
  if (group_of.empty() || group_of.front().empty()) throw Error("groups of nobody");
  std::vector<Row> rows;
  for (const GroupNumbers& numbers : group_of) {
    if (numbers.size() != group_of.front().size()) throw Error("each level has a group for each rank");
    rows.push_back(numbered_row(tables, 1 + rows.size(), numbers));
    if (rows.size() > 1 && !is_nested(rows[rows.size() - 2], rows.back().group_of))
      throw Error("ranks that are together on a level are together on the next one");
  }
  return rows;
}

}  // namespace

std::uint32_t number_groups(std::size_t count, const std::function<std::uint64_t(std::size_t)>& group_of,
                            NewTable numbers) {
  std::map<std::uint64_t, std::uint32_t> met;
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = met.try_emplace(group_of(i), static_cast<std::uint32_t>(met.size())).first->second;
  return static_cast<std::uint32_t>(met.size());
}

Groups::Groups(const std::vector<GroupNumbers>& group_of) : Groups(std::make_shared<OwnTables>(), group_of) {}

Groups::Groups(const std::shared_ptr<OwnTables>& tables, const std::vector<GroupNumbers>& group_of)
    : Groups(tables, 0, checked_rows(*tables, group_of)) {}

Groups::Groups(std::shared_ptr<Tables> tables, std::uint64_t name, std::vector<Row> rows)
    : tables_(std::move(tables)), rows_(std::move(rows)) {
  read_lists(tables_->get(name, size_of_lists(), [this](NewTable table) { fill_lists(table); }));
}

std::uint32_t Groups::number_of(std::size_t level, Rank rank) const {
  return level == levels() ? 0 : rows_[level].group_of[static_cast<std::size_t>(rank)];
}

/// All levels' ranks, then all levels' fronts but those of level 0, which are its ranks.
std::size_t Groups::size_of_lists() const {
  std::size_t size = 0;
  for (std::size_t level = 0; level <= levels(); ++level)
    size += groups_on(level) + 1 + rows_[0].group_of.size();
  for (std::size_t level = 1; level <= levels(); ++level) size += groups_on(level) + 1 + groups_on(level - 1);
  return size;
}

void Groups::fill_lists(NewTable table) const {
  PartsOf<std::uint32_t> parts(table);
  std::vector<std::vector<std::uint32_t>>
      fronts;  // of each level's groups, which the ranks meet in this order
  const std::vector<std::uint32_t> everybody(rows_[0].group_of.size());
  for (std::size_t level = 0; level <= levels(); ++level) {
    const NewTable starts = parts.next(groups_on(level) + 1), ranks = parts.next(everybody.size());
    sort_by_number(level == levels() ? Table(everybody) : rows_[level].group_of, starts, ranks);
    auto& of_level = fronts.emplace_back();
    for (std::uint32_t group = 0; group < groups_on(level); ++group) of_level.push_back(ranks[starts[group]]);
  }
  for (std::size_t level = 1; level <= levels(); ++level) {
    const std::vector<std::uint32_t>& inside = fronts[level - 1];
    std::vector<std::uint32_t> outside;
    for (const std::uint32_t front : inside) outside.push_back(number_of(level, static_cast<Rank>(front)));
    const NewTable starts = parts.next(groups_on(level) + 1), ranks = parts.next(inside.size());
    sort_by_number(outside, starts, ranks);
    for (std::uint32_t& index : ranks) index = inside[index];
  }
}

void Groups::read_lists(Table table) {
  PartsOf<const std::uint32_t> parts(table);
  const auto next = [&](std::size_t level, std::size_t ranks) {
    const Table starts = parts.next(groups_on(level) + 1);
    return Lists{starts, as_ranks(parts.next(ranks))};
  };
  for (std::size_t level = 0; level <= levels(); ++level)
    ranks_of_.push_back(next(level, rows_[0].group_of.size()));
  fronts_of_.push_back(ranks_of_.front());
  for (std::size_t level = 1; level <= levels(); ++level)
    fronts_of_.push_back(next(level, groups_on(level - 1)));
  for (std::size_t level = 0; level < levels(); ++level)
    for (std::uint32_t group = 0; group < groups_on(level); ++group)
      are_runs_ = are_runs_ && is_run(ranks_of_[level][group]);
}

bool Groups::are_equal() const noexcept {
  const Lists& outermost = ranks_of_[levels() - 1];
  for (std::uint32_t group = 1; group < outermost.size(); ++group)
    if (outermost[group].size() != outermost[0].size()) return false;
  return true;
}

Rank Groups::most_members(std::size_t level) const {
  const Lists& fronts = fronts_of_[level];
  std::size_t most = 0;
  for (std::uint32_t group = 0; group < fronts.size(); ++group) most = std::max(most, fronts[group].size());
  return static_cast<Rank>(most);
}

std::span<const Rank> Groups::all_of(std::size_t level, Rank rank) const {
  return ranks_of_[level][number_of(level, rank)];
}

Rank Groups::leader(std::size_t level, Rank rank, Rank root, std::uint32_t turn) const {
  const auto group = all_of(level, rank);
  if (std::binary_search(group.begin(), group.end(), root)) return root;
  if (turn == 0) return group.front();
  const auto fronts = fronts_of_[level][number_of(level, rank)];
  const Rank chosen = fronts[turn % fronts.size()];
  return level == 0 ? chosen : leader(level - 1, chosen, root, turn);
}

std::vector<Rank> Groups::members(std::size_t level, Rank rank, Rank root, std::uint32_t turn) const {
  const auto fronts = fronts_of_[level][number_of(level, rank)];
  std::vector<Rank> members(fronts.begin(), fronts.end());
  if (level == 0) return members;
  for (Rank& member : members) member = leader(level - 1, member, root, turn);
  std::ranges::sort(members);
  return members;
}

}  // namespace hocket::passes
