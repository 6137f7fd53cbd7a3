// Where the worker runs.
#pragma once

#include <string>

namespace hocket::worker {

/// On these CPUs ("7", "6-7"), or, if it is empty, on any that this machine lets it use: a launcher has bound
/// local rank 0 to its own, and this process with it. Throws Error for what is no list, or not to be had, and
/// where nothing is named and there are fewer CPUs than the `ranks` and `workers` of this node.
void settle(const std::string& cpus, int ranks, int workers);

}  // namespace hocket::worker
