// Runs a schedule on LogGP parameters, with a clock per rank: when every rank is done, and how much of that
// its CPU works. Moves no data. docs/simulation.md defines the model.
//
//   send     occupies the CPU for o + (s - 1) O, after which it is complete for the sender, and the rank's
//            way out for the gap g + (s - 1) G
//   recv     the first byte arrives o + L after the start of the send; the way in takes messages one after
//   the
//            other; ends o after the last byte. Received at the end of the round, in the order of arrival
//   copy, read, reduce   CPU time per byte
//   links    what ranks of a group share on the way (links.hpp)
//   signal   o; seen by others L later
//   aggregate   as a send to the first switch; settle as a recv of what comes back (aggregations.hpp)
//   wait     o per rank waited for, ending o after the last signal was there
#pragma once

#include "executors/simulated/classes.hpp"

namespace hocket::executors::simulated {

struct RankTime {
  double finish = 0;  ///< ns after all ranks have begun
  double busy = 0;    ///< of it CPU: overheads, copies, reductions. The rest waits for the network.
};

struct Prediction {
  Rank ranks = 1;
  std::uint64_t steps = 0;         ///< simulated
  std::vector<RankTime> of_class;  ///< rank r is in class r modulo their number
  bool extrapolated = false;       ///< from fewer repeats of rounds that repeat

  const RankTime& of(Rank rank) const { return of_class[static_cast<std::size_t>(rank) % of_class.size()]; }
  const RankTime& slowest() const;
  double mean_busy() const;
};

/// About two seconds of simulation, and half a gigabyte at most.
inline constexpr std::uint64_t most_steps = 30'000'000;

/// All steps of all classes: how many does not matter.
Prediction simulate(const Classes& classes, const Network& network);
/// `bytes`: the vector, or one block. Throws hocket::Error for what cannot be simulated, with the reason.
Prediction simulate(Rank ranks, const ScheduleOf& schedule_of, std::uint64_t bytes, const Network& network,
                    std::uint64_t most = most_steps);

}  // namespace hocket::executors::simulated
