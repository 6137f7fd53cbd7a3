// Ranks that behave alike. Where every rank does, relative to its place, what the rank `period` places before
// does, and groups of all levels lie alike around both, one representative of each residue class is enough:
// a message to the rank d places after is one to the class d places after.
#pragma once

#include <functional>
#include <vector>

#include "executors/simulated/trace.hpp"

namespace hocket::executors::simulated {

using ScheduleOf = std::function<ir::Schedule(Rank)>;

struct Classes {
  Rank ranks = 1;
  Rank period = 1;            ///< classes; as many as ranks where every rank stands for itself
  std::vector<Trace> traces;  ///< of the first ranks; those of the others repeat them
  std::uint64_t steps = 0;    ///< to be simulated

  const Trace& trace(Rank c) const { return traces[static_cast<std::size_t>(c) % traces.size()]; }
};

/// All ranks, one by one, if that takes at most `most_steps`; else representatives of classes, which may have
/// more steps if most of them repeat. Throws hocket::Error with the reason and the estimate where neither is
/// possible.
Classes classify(Rank ranks, const ScheduleOf& schedule_of, std::uint64_t bytes, const Network& network,
                 std::uint64_t most_steps);

}  // namespace hocket::executors::simulated
