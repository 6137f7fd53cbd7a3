// Rounds that repeat thousands of times, as those of a ring: after some of them every rank takes equally long
// for each, and the rest is a multiplication.
#pragma once

#include "executors/simulated/classes.hpp"
#include "executors/simulated/simulate.hpp"

namespace hocket::executors::simulated {

/// The same with few repeats of each round.
Trace shortened(Trace trace);

/// Simulates with fewer repeats, and more of them until the time of one more is the same for all ranks,
/// twice. Throws hocket::Error where that takes more than `most` steps.
Prediction extrapolate(const Classes& classes, const Network& network, std::uint64_t most);

}  // namespace hocket::executors::simulated
