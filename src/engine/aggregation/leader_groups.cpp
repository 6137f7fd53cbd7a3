#include "engine/aggregation/leader_groups.hpp"

#include <algorithm>

#include "engine/aggregation/service.hpp"
#include "engine/call_turn.hpp"

namespace hocket::engine::aggregation {

namespace {

/// Apart from the numbers of persistent requests, which count from 1.
std::uint32_t number_of(const std::vector<Rank>& names, LeaderGroups::Kind kind) {
  std::uint32_t hash = 0x811c9dc5U;
  for (const Rank name : names) hash = (hash ^ static_cast<std::uint32_t>(name)) * 0x01000193U;
  constexpr std::uint32_t started = 1U << 30U;
  return (kind == LeaderGroups::Kind::started ? hash | started : hash & ~started) | 1U << 31U;
}

}  // namespace

LeaderGroup& LeaderGroups::of(const std::vector<Rank>& names) {
  for (const Known& known : known_)
    if (known.names == names) return *known.group;
  LeaderNames leaders;
  leaders.id = id_of_starts(id_, number_of(names, kind_));
  leaders.names = names;
  for (const Rank name : names) leaders.world.push_back(members_[static_cast<std::size_t>(name)]);
  leaders.own = static_cast<Rank>(std::ranges::find(names, rank_) - names.begin());
  known_.push_back({names, std::make_unique<LeaderGroup>(service_, network_, std::move(leaders))});
  return *known_.back().group;
}

Trace* LeaderGroups::trace() const noexcept {
  return service_->trace();
}

std::uint64_t LeaderGroups::patience_ns() const noexcept {
  return service_->patience_ns();
}

}  // namespace hocket::engine::aggregation
