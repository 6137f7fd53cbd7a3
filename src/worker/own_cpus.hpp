// Where the worker runs.
#pragma once

#include <string>

#include "engine/cores.hpp"

namespace hocket::worker {

struct OwnCpus {
  engine::CpuMask mask;
  bool are_given = false;  ///< by the user
};

/// On these CPUs ("7", "6-7"), or, if it is empty, on any that this machine lets it use: a launcher has bound
/// local rank 0 to its own, and this process with it. Throws Error for what is no list, or not to be had, and
/// where nothing is named and there are fewer CPUs than the `ranks` and `workers` of this node. Which of them
/// the ranks are bound to is known when they come (engine/handover/worker_cpus.hpp).
OwnCpus settle(const std::string& cpus, int ranks, int workers);

}  // namespace hocket::worker
