// A rank's schedule in GOAL, the language of the simulators LogGOPSim and ATLAHS (Hoefler, Siebert, Lumsdaine
// 2009: Group Operation Assembly Language): sends, receives and calculations with dependencies.
#pragma once

#include <string>

#include "executors/simulated/trace.hpp"

namespace hocket::executors::simulated {

/// "rank r { ... }". Copies and reductions are calculations of whole ns. Throws hocket::Error for what GOAL
/// cannot say: schedules over shared memory, and sends that are held.
std::string goal_of(const Trace& trace, Rank rank, Rank ranks, const Network& network);

}  // namespace hocket::executors::simulated
