// Where this node is, from whatever the job has been told. Once for each node: a file is read by one process
// and its path of switches is what the others need.
#pragma once

#include <optional>
#include <string>

#include "topology/switch_paths.hpp"

namespace hocket::topology {

struct Hints {
  std::string source;         ///< as open_source() understands it; empty: none
  std::string slurm_address;  ///< SLURM_TOPOLOGY_ADDR; empty: none
  std::string slurm_pattern;  ///< SLURM_TOPOLOGY_ADDR_PATTERN
  std::string node;           ///< this node's name, for what tells of many
};

/// What Slurm has told this task, and the node's name of the system.
Hints hints_of_this_task(std::string source);

/// The source's answer if there is one, else Slurm's; nothing if there is neither. Throws Error.
std::optional<SwitchPath> discover(const Hints& hints);

}  // namespace hocket::topology
