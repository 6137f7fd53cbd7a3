#include "executors/simulated/network.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/error.hpp"

namespace hocket::executors::simulated {

namespace {

void check_protocols(const Level& level) {
  if (level.protocols.empty() || level.protocols.front().from != 0)
    throw Error("level " + level.name + " has no parameters for the smallest messages");
  for (std::size_t i = 0; i < level.protocols.size(); ++i) {
    const LogGP& p = level.protocols[i];
    if (!(p.L >= 0 && p.o >= 0 && p.g >= 0 && p.G >= 0 && p.O >= 0))
      throw Error("level " + level.name + " has a negative parameter");
    if (i > 0 && p.from <= level.protocols[i - 1].from)
      throw Error("level " + level.name + ": protocols must be in the order of sizes");
  }
}

void check_link(const Level& level) {
  if (!level.link) return;
  if (level.holds_all()) throw Error("level " + level.name + " holds all ranks, and nothing leaves it");
  if (!(level.link->g >= 0 && level.link->G >= 0) || !std::isfinite(level.link->g + level.link->G))
    throw Error("level " + level.name + " has a link without a capacity");
}

void check_groups(const Level& level, bool last, Rank ranks) {
  if (!level.group_of.empty() && level.group_of.size() != static_cast<std::size_t>(ranks))
    throw Error("level " + level.name + " places " + std::to_string(level.group_of.size()) +
                " ranks, and there are " + std::to_string(ranks));
  if (level.ranks < 0 || (!last && level.holds_all()))
    throw Error("level " + level.name + " holds all ranks already");
}

void fail_nested(const Level& outer) {
  throw Error("level " + outer.name + " must hold whole groups of the level before");
}

/// Where both are runs of ranks that is a question of sizes, whatever the number of ranks.
void check_nested(const Level& inner, const Level& outer, Rank ranks) {
  if (outer.holds_all()) return;
  if (inner.group_of.empty() && outer.group_of.empty()) {
    if (outer.ranks < inner.ranks || outer.ranks % inner.ranks != 0) fail_nested(outer);
    return;
  }
  std::unordered_map<std::uint32_t, std::uint32_t> outer_of;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto [found, is_new] = outer_of.try_emplace(inner.group(rank), outer.group(rank));
    if (!is_new && found->second != outer.group(rank)) fail_nested(outer);
  }
}

}  // namespace

const LogGP& Level::at(std::uint64_t bytes) const {
  std::size_t i = protocols.size() - 1;
  while (protocols[i].from > bytes) --i;
  return protocols[i];
}

void Network::check(Rank ranks) const {
  if (levels.empty() || !levels.back().holds_all()) throw Error("the last level must hold all ranks");
  if (!(copy >= 0 && reduce >= 0)) throw Error("a cost per byte is negative");
  if (switches &&
      !(switches->latency >= 0 && switches->G >= 0 && std::isfinite(switches->latency + switches->G)))
    throw Error("a cost of switches is negative, or none");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_protocols(levels[i]);
    check_link(levels[i]);
    check_groups(levels[i], i + 1 == levels.size(), ranks);
    if (i > 0) check_nested(levels[i - 1], levels[i], ranks);
  }
}

std::size_t Network::distance(Rank a, Rank b) const {
  std::size_t i = 0;
  while (i + 1 < levels.size() && !levels[i].holds(a, b)) ++i;
  return i;
}

std::size_t Network::first_switch_level() const {
  const auto found = std::ranges::find_if(levels, [](const Level& level) { return !level.shared_memory; });
  return found == levels.end() ? levels.size() - 1 : static_cast<std::size_t>(found - levels.begin());
}

bool Network::has_links() const {
  return std::ranges::any_of(levels, [](const Level& level) { return level.link.has_value(); });
}

}  // namespace hocket::executors::simulated
