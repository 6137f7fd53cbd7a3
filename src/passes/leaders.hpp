// Several leaders of each group, each for another part of the vector: on a node with many cores and one card,
// one leader folds everything alone while the others wait; with several leaders each folds its part, and the
// parts travel at the same time. Over switches, the parts of a group leave it through the cards of different
// nodes.
//
// With nodes as groups and trees as wide as a node this is DPML (data partitioning multi-leader), Bayatpour
// et al. 2017.
#pragma once

#include <functional>

#include "ir/request.hpp"
#include "ir/schedule.hpp"

namespace hocket::passes {

/// All ranks' schedules of a vector collective, in which the vector is cut into as many parts as there are
/// `leaders`. `whole` builds one rank's schedule of the collective for one part, with the turn-th leader of
/// each group. Rounds of different parts that may happen at the same time do, and what two ranks exchange at
/// that time, of several parts, is one message. Throws Error where `whole` does, or builds anything but
/// sends, receives and aggregations.
std::vector<ir::Schedule> with_leaders(
    const ir::Request& request, std::uint32_t leaders,
    const std::function<ir::Schedule(const ir::Request& request, std::uint32_t turn)>& whole);

}  // namespace hocket::passes
