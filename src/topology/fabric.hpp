// A network as its cables say: switches, hosts, and who is plugged into whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

struct Fabric {
  struct Switch {
    std::string name;
    std::vector<std::uint32_t> switches;  ///< a neighbour's number for each cable
    std::vector<std::uint32_t> hosts;
  };
  std::vector<Switch> switches;
  std::vector<std::string> hosts;  ///< names, each once
};

/// The levels of switches above the hosts. A switch is of level 1 where a quarter of its cables at least lead
/// to hosts, of level k + 1 where its nearest neighbour is of level k; switches that reach each other through
/// levels up to k alone are one vertex: the pods of a fat tree, whose upper switches have all of them below.
/// A host on several switches counts where it was found first.
Tree tree_of(const Fabric& fabric);

}  // namespace hocket::topology
