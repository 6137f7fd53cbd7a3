// How many switches are on the way from one host to another.
#pragma once

#include <cstdint>
#include <map>

#include "topology/fabric.hpp"
#include "topology/tree.hpp"

namespace hocket::topology {

/// Pairs of different hosts, by the switches between them. 0: no way leads from one to the other.
using HopCounts = std::map<std::uint32_t, std::uint64_t>;

/// Up from one node to the vertex that contains both, and down to the other; each vertex counts as one
/// switch.
std::uint32_t hops(const Tree& tree, Tree::Id a, Tree::Id b);
/// In time O(vertices), whatever the number of pairs.
HopCounts count_hops(const Tree& tree);

/// By the fewest cables, which may be a shorter way than up and down the tree: the switches of a level are
/// one vertex there, and a chassis is one more. Hosts by their numbers.
std::uint32_t hops(const Fabric& fabric, std::uint32_t a, std::uint32_t b);
/// In time O(switches with hosts x cables).
HopCounts count_hops(const Fabric& fabric);

}  // namespace hocket::topology
