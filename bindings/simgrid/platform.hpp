// A machine of switches in SimGrid: each group of nodes is a zone with a router, and one link up and down.
#pragma once

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <vector>

namespace hocket::bindings {

/// Bytes per second, and seconds.
struct Wire {
  double bandwidth = 0;
  double latency = 0;
};

struct Platform {
  std::vector<std::vector<std::uint32_t>> groups;  ///< of each level, innermost first: the group of each node
  Wire inside;                                     ///< a message within a node
  Wire card;                                       ///< of a node
  std::vector<Wire> uplinks;                       ///< of each level's groups
};

/// A host for each node. After the engine is made, and once.
std::vector<simgrid::s4u::Host*> build(const Platform& platform, std::size_t nodes);

}  // namespace hocket::bindings
