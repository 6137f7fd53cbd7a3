// A network as its cables say: switches, hosts, and who is plugged into whom.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

struct Fabric {
  static constexpr std::uint32_t no_chassis = std::numeric_limits<std::uint32_t>::max();
  struct Switch {
    std::string name;
    std::vector<std::uint32_t> switches;  ///< a neighbour's number for each cable
    std::vector<std::uint32_t> hosts;
    std::uint32_t chassis = no_chassis;  ///< that this chip is built into
  };
  std::vector<Switch> switches;
  std::vector<std::string> hosts;      ///< names, each once
  std::vector<std::string> chassis{};  ///< names
};

/// The levels of switches above the hosts. A switch is of level 1 where a quarter of its cables at least lead
/// to hosts, of level k + 1 where its nearest neighbour is of level k; switches that reach each other through
/// levels up to k alone are one vertex: the pods of a fat tree, whose upper switches have all of them below.
/// A chassis with several leaves in it is one vertex with all its switches, between its leaves and level 2.
/// A host on several switches counts where it was found first.
Tree tree_of(const Fabric& fabric);

}  // namespace hocket::topology
