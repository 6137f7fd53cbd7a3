#include "passes/leaders.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "passes/align.hpp"
#include "passes/fused_round.hpp"
#include "passes/segment.hpp"

namespace hocket::passes {
namespace {

using ir::Op;
using ir::Rank;
using ir::Region;
using ir::Schedule;

/// All ranks' schedules for one part of the vector, and the times of their rounds (align.hpp).
struct Part {
  std::vector<Schedule> schedules;
  std::vector<std::vector<std::uint32_t>> times;
};

/// One rank's: what all parts do at a time is one round.
class SideBySide {
 public:
  SideBySide(const std::vector<Part>& parts, Rank rank)
      : parts_(parts), rank_(static_cast<std::size_t>(rank)) {
    const Schedule& first = parts_.front().schedules[rank_];
    all_.collective = first.collective;
    all_.ranks = first.ranks;
    all_.rank = first.rank;
    all_.root = first.root;
    all_.chunks = first.chunks * static_cast<std::uint32_t>(parts_.size());
    for (const Part& part : parts_)
      all_.scratch_planes = std::max(all_.scratch_planes, part.schedules[rank_].scratch_planes);
  }

  Schedule run() {
    for (std::uint32_t now = 0; now < end(); ++now) append_time(now);
    return std::move(all_);
  }

 private:
  std::uint32_t end() const {
    std::uint32_t end = 0;
    for (const Part& part : parts_)
      if (!part.times[rank_].empty()) end = std::max(end, part.times[rank_].back() + 1);
    return end;
  }

  void append_time(std::uint32_t now) {
    bool any = false;
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
      const auto& times = parts_[number].times[rank_];
      const auto round = std::ranges::lower_bound(times, now);
      if (round == times.end() || *round != now) continue;
      append_round(number, static_cast<std::size_t>(round - times.begin()));
      any = true;
    }
    if (any) fused_.append_to(all_);
  }

  void append_round(std::uint32_t number, std::size_t round) {
    const Schedule& s = parts_[number].schedules[rank_];
    for (std::uint32_t i = round == 0 ? 0 : s.rounds[round - 1]; i < s.rounds[round]; ++i)
      append(number, s.ops[i]);
  }

  void append(std::uint32_t number, const Op& op) {
    const Schedule& s = parts_[number].schedules[rank_];
    Op moved = op;
    if (is_of_aggregation(op)) {
      moved.group = group_in_all(s.groups[op.group]);
      moved.step = op.step * static_cast<std::uint32_t>(parts_.size()) + number;
    }
    if (has_target(op)) moved.target = region_in_all(number, op.target);
    std::vector<Region> regions;
    for (const Region& region : s.regions_of(op)) regions.push_back(region_in_all(number, region));
    fused_.add(moved, std::move(regions));
  }

  /// Parts whose leaders are the same have one group.
  std::uint32_t group_in_all(const std::vector<Rank>& members) {
    const auto known = std::ranges::find(all_.groups, members);
    const auto group = static_cast<std::uint32_t>(known - all_.groups.begin());
    if (known == all_.groups.end()) all_.groups.push_back(members);
    return group;
  }

  /// Chunk n of plane k is k * N + n, in a part as in all of them.
  Region region_in_all(std::uint32_t number, Region region) const {
    const std::uint32_t chunks = parts_[number].schedules[rank_].chunks;
    region.first = region.first / chunks * all_.chunks + number * chunks + region.first % chunks;
    return region;
  }

  const std::vector<Part>& parts_;
  const std::size_t rank_;
  FusedRound fused_;
  Schedule all_;
};

}  // namespace

std::vector<Schedule> with_leaders(
    const ir::Request& request, std::uint32_t leaders,
    const std::function<Schedule(const ir::Request& request, std::uint32_t turn)>& whole) {
  std::vector<Part> parts(leaders);
  for (std::uint32_t turn = 0; turn < leaders; ++turn) {
    Part& part = parts[turn];
    for (Rank rank = 0; rank < request.ranks; ++rank)
      part.schedules.push_back(whole(request.seen_by(rank), turn));
    if (!can_segment_aligned(part.schedules))
      throw Error("several leaders are for vectors that are sent or aggregated");
    part.times = align(part.schedules);
  }
  std::vector<Schedule> all;
  for (Rank rank = 0; rank < request.ranks; ++rank) all.push_back(SideBySide(parts, rank).run());
  return all;
}

}  // namespace hocket::passes
