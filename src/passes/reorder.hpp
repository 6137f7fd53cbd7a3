// Ranks renumbered: a schedule in which neighbours talk to neighbours is run by ranks that are near each
// other, whatever their numbers are. A ring among ranks that are dealt out to switches one by one crosses
// them in every step; in the machine's order, once for each switch.
#pragma once

#include <functional>
#include <span>

#include "ir/request.hpp"
#include "ir/schedule.hpp"

namespace hocket::passes {

using ir::Rank;

/// All but scan and exscan, whose prefixes follow the order of ranks.
bool can_be_reordered(ir::Collective collective);

/// Ranks in an order, and the place of each rank in it.
struct Order {
  std::span<const Rank> ranks, places;
};

/// One rank's schedule: what `build` makes for its place in the order, under the ranks' own numbers. A
/// reduction has to commute.
ir::Schedule reorder(const ir::Request& request, const Order& order,
                     const std::function<ir::Schedule(const ir::Request&)>& build);

}  // namespace hocket::passes
