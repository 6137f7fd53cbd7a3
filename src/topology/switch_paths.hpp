// What the nodes of a job are under: the part of a machine's tree that a job needs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

/// Names of switches from the outside to the one that a node is plugged into, without the root, which
/// contains all. Two nodes are in the same group of level k if the first k names of their paths are the same:
/// a name by itself may be in several places. Empty where nothing is known but that the node is there.
using SwitchPath = std::vector<std::string>;

/// Of each of these nodes, with or without domain. Throws Error, which names them, if some are not in the
/// tree: to call them all neighbours of each other would be a guess.
std::vector<SwitchPath> switch_paths(const Tree& tree, std::span<const std::string> nodes);

}  // namespace hocket::topology
