#include "passes/fused_round.hpp"

#include <algorithm>
#include <utility>

namespace hocket::passes {

using ir::Op;
using ir::Region;

void FusedRound::add(const Op& op, std::vector<Region> regions) {
  if (is_transfer(op))
    if (const auto same = find(op); same != parts_.end()) return fuse(same, std::move(regions));
  parts_.push_back({op, std::move(regions)});
}

void FusedRound::append_to(ir::Schedule& schedule) {
  for (Part& part : parts_) {
    part.op.first_region = static_cast<std::uint32_t>(schedule.regions.size());
    part.op.regions = static_cast<std::uint32_t>(part.regions.size());
    schedule.regions.insert(schedule.regions.end(), part.regions.begin(), part.regions.end());
    schedule.ops.push_back(part.op);
  }
  parts_.clear();
  schedule.rounds.push_back(static_cast<std::uint32_t>(schedule.ops.size()));
}

std::vector<FusedRound::Part>::iterator FusedRound::find(const Op& op) {
  return std::ranges::find_if(parts_,
                              [&](const Part& p) { return p.op.code == op.code && p.op.peer == op.peer; });
}

/// In the place of the later one: what is sent may have been computed in between, and where something is
/// received may have been read.
void FusedRound::fuse(std::vector<Part>::iterator part, std::vector<Region> regions) {
  part->regions.insert(part->regions.end(), regions.begin(), regions.end());
  std::rotate(part, part + 1, parts_.end());
}

}  // namespace hocket::passes
