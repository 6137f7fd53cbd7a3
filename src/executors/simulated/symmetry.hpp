// After how many places the groups of a machine lie alike again, and which links ranks then share.
#pragma once

#include <cstdint>
#include <vector>

#include "executors/simulated/network.hpp"

namespace hocket::executors::simulated {

/// The smallest distance that divides `ranks` and after which all groups lie alike, and the ranks of a group
/// that has a link are in different classes. `ranks` where there is no smaller one.
Rank symmetric_unit(const Network& network, Rank ranks);

/// For each class of ranks, the groups that it is in on each level; groups which lie alike are one, whose
/// number is its first class.
std::vector<std::vector<Rank>> groups_of_classes(const Network& network, Rank ranks, Rank period);

/// Of each level, by that number: how many groups lie alike.
std::vector<std::vector<Rank>> groups_that_lie_alike(const Network& network, Rank ranks, Rank period);

/// Which nothing leaves.
bool is_one_group(const Level& level, Rank ranks);

}  // namespace hocket::executors::simulated
