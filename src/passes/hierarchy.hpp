// Collectives that follow the machine: inside each group with its leader, then among the leaders, level by
// level, and back. Every part is a flat schedule of the catalog; the pass puts them together. So data cross
// the boundary of a group once in each direction, whatever the flat schedules do inside.
//
// Two levels of it are Karonis et al. 2000 (multilevel topology-aware collectives); leaders in shared memory
// are Graham and Shipman 2008; gather and scatter by racks are Kandalla et al. 2010.
#pragma once

#include <functional>

#include "ir/request.hpp"
#include "ir/schedule.hpp"
#include "passes/groups.hpp"

namespace hocket::passes {

/// One rank's flat schedules. The request that a part is built for has the parameters of the whole's.
struct Parts {
  /// For the ranks of one group of a level: a bcast, reduce, gather or scatter, of whole vectors in as many
  /// chunks in all groups; for an alltoall without scratch.
  std::function<ir::Schedule(const ir::Request&, std::size_t level)> inside;
  /// The collective itself among the outermost leaders; for an alltoall over groups of different sizes
  /// without scratch.
  std::function<ir::Schedule(const ir::Request&)> on_top;
};

/// All but scan and exscan, whose prefixes end inside of groups.
bool has_hierarchy(ir::Collective collective);

/// One rank's schedule. A reduction that does not commute needs groups that are runs of ranks. Groups that
/// the root is not in are led by the turn-th of their members. Throws Error where there is no hierarchy, or a
/// part does not fit into one.
ir::Schedule hierarchy(const ir::Request& request, const Groups& groups, const Parts& parts,
                       std::uint32_t turn = 0);

/// What goes ahead of an alltoall whose blocks differ: one block of every rank comes to all who lead it in
/// the hierarchy, into the block of their output that belongs to the rank. A gather of which each outermost
/// leader is a root. Leaders are those of `hierarchy` for an alltoall.
ir::Schedule gather_in_groups(const ir::Request& request, const Groups& groups, const Parts& parts);

}  // namespace hocket::passes
