// What all groups of one switch share.
#pragma once

#include <cstdint>

#include "switch/groups/jobs.hpp"
#include "switch/groups/limits.hpp"
#include "switch/groups/port.hpp"
#include "switch/groups/statistics.hpp"

namespace hocket::aggregation {

struct Site {
  Site(const Limits& promised, bool with_parent) : limits(promised), has_parent(with_parent) {}

  const Limits limits;
  const bool has_parent;   ///< though it may not be reached
  Port* above = nullptr;   ///< the parent, while it is reached
  std::uint32_t used = 0;  ///< numbers of groups, on the way up
  Jobs jobs{limits};
  Statistics statistics;
};

}  // namespace hocket::aggregation
