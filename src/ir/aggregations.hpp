// Which ops of all ranks are one aggregation. Nothing names it but the group, the list of its members, and
// how many of the group's have been started before: as in networks that reduce.
#pragma once

#include <span>
#include <vector>

#include "ir/schedule.hpp"

namespace hocket::ir {

/// For each aggregation the place where each member starts it, in the group's order. All ranks' schedules, in
/// order. Throws Error where a member does not start what others do, or a rank is in no group that it names.
std::vector<std::vector<Place>> match_aggregations(std::span<const Schedule> schedules);

}  // namespace hocket::ir
