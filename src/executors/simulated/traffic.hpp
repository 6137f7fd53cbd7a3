// What a schedule sends out of the groups of each level, and which of them carries most of it.
#pragma once

#include <string>
#include <vector>

#include "executors/simulated/classes.hpp"

namespace hocket::executors::simulated {

struct Traffic {
  std::string level;
  std::uint64_t messages = 0;  ///< that leave a group of this level
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;  ///< bytes out of, or into, one group
  Rank busiest = 0;        ///< the first rank of that group
};

/// Of all levels but the last, which nothing leaves.
std::vector<Traffic> traffic(const Classes& classes, const Network& network);

}  // namespace hocket::executors::simulated
