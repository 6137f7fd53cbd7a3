// A collective's ranks, and what other jobs do meanwhile, as actors of SimGrid.
#pragma once

#include <simgrid/s4u.hpp>

#include <vector>

#include "executors/simulated/trace.hpp"

namespace hocket::bindings {

struct Job {
  const executors::simulated::Network& network;
  std::vector<executors::simulated::Trace> traces;  ///< of each rank
  std::vector<simgrid::s4u::Host*> hosts;           ///< of each rank
};

struct Times {
  std::vector<double> finish;  ///< ns, of each rank
};

/// Adds the ranks; what they take stands in `times` when the engine has run.
void start(const Job& job, Times& times);

/// A job that does alltoalls with so many bytes for each pair of nodes until the ranks have ended.
void start_other(const std::vector<simgrid::s4u::Host*>& hosts, std::uint64_t bytes);

}  // namespace hocket::bindings
