// Which schedules are simulated: rows of the catalog, as the engine would cut them, and hierarchies of them.
#pragma once

#include <string>
#include <vector>

#include "executors/simulated/classes.hpp"
#include "values.hpp"

namespace hocket::bindings {

struct Hierarchy {
  std::vector<std::string> by;  ///< levels of the network, innermost first
  std::string inside;           ///< the algorithm inside of their groups
};

executors::simulated::ScheduleOf flat_schedule_of(const Named& n);
executors::simulated::ScheduleOf schedule_of(const Named& n, const Hierarchy& hierarchy,
                                             const executors::simulated::Network& network);

}  // namespace hocket::bindings
