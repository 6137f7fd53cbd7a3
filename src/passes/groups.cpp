#include "passes/groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"

namespace hocket::passes {
namespace {

std::vector<std::vector<Rank>> by_group(const GroupNumbers& group_of) {
  std::vector<std::vector<Rank>> ranks;
  for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
    if (group_of[rank] >= ranks.size()) ranks.resize(group_of[rank] + 1);
    ranks[group_of[rank]].push_back(static_cast<Rank>(rank));
  }
  return ranks;
}

/// Whoever is together inside is so outside.
bool is_nested(const std::vector<std::vector<Rank>>& inner, const GroupNumbers& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](const std::vector<Rank>& group) {
    return std::all_of(group.begin(), group.end(), [&](Rank rank) {
      return outer[static_cast<std::size_t>(rank)] == outer[static_cast<std::size_t>(group.front())];
    });
  });
}

bool is_run(const std::vector<Rank>& group) {
  return static_cast<std::size_t>(group.back() - group.front()) + 1 == group.size();
}

}  // namespace

GroupNumbers renumbered(const GroupNumbers& numbers) {
  std::map<std::uint32_t, std::uint32_t> met;
  GroupNumbers result;
  for (const std::uint32_t number : numbers)
    result.push_back(met.try_emplace(number, static_cast<std::uint32_t>(met.size())).first->second);
  return result;
}

Groups::Groups(std::vector<GroupNumbers> group_of) {
  if (group_of.empty() || group_of.front().empty()) throw Error("groups of nobody");
  ranks_ = static_cast<Rank>(group_of.front().size());
  for (const GroupNumbers& row : group_of) {
    if (row.size() != group_of.front().size()) throw Error("each level has a group for each rank");
    if (!ranks_of_.empty() && !is_nested(ranks_of_.back(), row))
      throw Error("ranks that are together on a level are together on the next one");
    group_of_.push_back(renumbered(row));
    ranks_of_.push_back(by_group(group_of_.back()));
    are_runs_ = are_runs_ && std::all_of(ranks_of_.back().begin(), ranks_of_.back().end(), is_run);
  }
  ranks_of_.emplace_back(1, std::vector<Rank>(static_cast<std::size_t>(ranks_)));
  std::iota(ranks_of_.back().front().begin(), ranks_of_.back().front().end(), Rank{0});
  fronts_of_.push_back(ranks_of_.front());
  for (std::size_t level = 1; level <= levels(); ++level) {
    auto& fronts = fronts_of_.emplace_back(ranks_of_[level].size());
    for (const auto& inside : ranks_of_[level - 1])
      fronts[number_of(level, inside.front())].push_back(inside.front());
    for (auto& of_group : fronts) std::ranges::sort(of_group);
  }
}

std::uint32_t Groups::number_of(std::size_t level, Rank rank) const {
  return level == levels() ? 0 : group_of_[level][static_cast<std::size_t>(rank)];
}

bool Groups::are_equal() const noexcept {
  const auto& outermost = ranks_of_[levels() - 1];
  return std::ranges::all_of(
      outermost, [&](const std::vector<Rank>& group) { return group.size() == outermost.front().size(); });
}

std::span<const Rank> Groups::all_of(std::size_t level, Rank rank) const {
  return ranks_of_[level][number_of(level, rank)];
}

const std::vector<Rank>& Groups::fronts_of(std::size_t level, Rank rank) const {
  return fronts_of_[level][number_of(level, rank)];
}

Rank Groups::leader(std::size_t level, Rank rank, Rank root, std::uint32_t turn) const {
  const auto group = all_of(level, rank);
  if (std::binary_search(group.begin(), group.end(), root)) return root;
  if (turn == 0) return group.front();
  const auto& fronts = fronts_of(level, rank);
  const Rank chosen = fronts[turn % fronts.size()];
  return level == 0 ? chosen : leader(level - 1, chosen, root, turn);
}

std::vector<Rank> Groups::members(std::size_t level, Rank rank, Rank root, std::uint32_t turn) const {
  std::vector<Rank> members = fronts_of(level, rank);
  if (level == 0) return members;
  for (Rank& member : members) member = leader(level - 1, member, root, turn);
  std::ranges::sort(members);
  return members;
}

}  // namespace hocket::passes
