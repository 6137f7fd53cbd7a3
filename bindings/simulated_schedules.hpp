// Which schedules are simulated: rows of the catalog, and recipes on a machine, as the engine would cut them.
#pragma once

#include <string>

#include "executors/simulated/classes.hpp"
#include "recipes.hpp"

namespace hocket::bindings {

executors::simulated::ScheduleOf flat_schedule_of(const Named& n);

/// Of a recipe's text. Throws Error where it cannot be followed on this machine.
executors::simulated::ScheduleOf schedule_of(const ir::Request& request, const std::string& recipe,
                                             const Places& places);

executors::simulated::Network network_from(const nb::dict& d);

}  // namespace hocket::bindings
