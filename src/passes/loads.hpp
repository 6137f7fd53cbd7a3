// What a collective's messages put on the links of a machine, counted in its schedules.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ir/schedule.hpp"
#include "passes/neighbourhood.hpp"

namespace hocket::passes {

/// What all ranks of a group share when they send out of it, or receive.
struct Link {
  std::size_t boundary;  ///< 0: a node's memory; 1: its network card; 2: its switch's uplink, ...
  std::uint32_t group;
  bool out;
  auto operator<=>(const Link&) const = default;
};

/// What a message goes over. `near`: null where nothing is known of nodes; each rank is on its own then.
std::vector<Link> way(const Neighbourhood* near, Rank from, Rank to);

/// The chunks that an op moves, in all of its regions.
std::uint32_t chunks_in(const ir::Schedule& schedule, const ir::Op& op);

/// The chunks of all messages over each link; all ranks' schedules, in order. Throws Error for
/// aggregations.
std::map<Link, std::uint64_t> loads(std::span<const ir::Schedule> schedules, const Neighbourhood* near);

/// Bytes over the busiest link of a boundary, for each byte of the vector, or of one block.
double busiest(std::span<const ir::Schedule> schedules, const Neighbourhood* near, std::size_t boundary);

}  // namespace hocket::passes
