#include "executors/simulated/symmetry.hpp"

#include <algorithm>
#include <unordered_map>

namespace hocket::executors::simulated {

namespace {

/// Whether each group, so many places further, is a group.
bool lies_alike(const Level& level, Rank ranks, Rank places) {
  if (level.holds_all()) return true;
  if (level.group_of.empty() && places % level.ranks != 0 && ranks > level.ranks) return false;
  std::unordered_map<std::uint32_t, std::uint32_t> further, nearer;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::uint32_t here = level.group(rank);
    const std::uint32_t there = level.group(static_cast<Rank>((std::int64_t{rank} + places) % ranks));
    if (further.try_emplace(here, there).first->second != there) return false;
    if (nearer.try_emplace(there, here).first->second != here) return false;
  }
  return true;
}

/// A link serves its ranks one after the other, so that they cannot stand for each other.
bool shares_no_link(const Level& level, Rank ranks, Rank period) {
  if (!level.link || is_one_group(level, ranks)) return true;
  std::unordered_map<std::uint64_t, Rank> first;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::uint64_t member =
        std::uint64_t{level.group(rank)} << 32U | static_cast<std::uint32_t>(rank % period);
    if (!first.try_emplace(member, rank).second) return false;
  }
  return true;
}

/// Of each group of the level.
std::unordered_map<std::uint32_t, Rank> first_classes(const Level& level, Rank ranks, Rank period) {
  std::unordered_map<std::uint32_t, Rank> first;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Rank& least = first.try_emplace(level.group(rank), rank % period).first->second;
    least = std::min(least, rank % period);
  }
  return first;
}

}  // namespace

bool is_one_group(const Level& level, Rank ranks) {
  if (level.group_of.empty()) return level.ranks == 0 || ranks <= level.ranks;
  for (Rank rank = 1; rank < ranks; ++rank)
    if (!level.holds(0, rank)) return false;
  return true;
}

Rank symmetric_unit(const Network& network, Rank ranks) {
  const auto fits = [&](Rank unit) {
    return std::ranges::all_of(network.levels, [&](const Level& level) {
      return lies_alike(level, ranks, unit) && shares_no_link(level, ranks, unit);
    });
  };
  for (Rank unit = 1; unit <= ranks / 2; ++unit)
    if (ranks % unit == 0 && fits(unit)) return unit;
  return ranks;
}

std::vector<std::vector<Rank>> groups_of_classes(const Network& network, Rank ranks, Rank period) {
  std::vector<std::vector<Rank>> found;
  for (const Level& level : network.levels) {
    auto first = first_classes(level, ranks, period);
    found.emplace_back();
    for (Rank c = 0; c < period; ++c) found.back().push_back(first[level.group(c)]);
  }
  return found;
}

std::vector<std::vector<Rank>> groups_that_lie_alike(const Network& network, Rank ranks, Rank period) {
  std::vector<std::vector<Rank>> found;
  for (const Level& level : network.levels) {
    found.emplace_back(static_cast<std::size_t>(period));
    for (const auto& [group, least] : first_classes(level, ranks, period))
      ++found.back()[static_cast<std::size_t>(least)];
  }
  return found;
}

}  // namespace hocket::executors::simulated
