// Which job this process belongs to and which place on this node it has, as told by the launcher's
// environment.
#pragma once

#include <optional>
#include <string>

namespace hocket::engine {

struct JobIdentity {
  std::string key;  ///< unique per job (and user) on this node
  int local_rank = 0;
  int local_size = 1;  ///< ranks of the job that the launcher started on this node
  std::string source;  ///< "PMIx", "hydra", "slurm", "HOCKET_JOB": for doctor and report
};

/// Reads the environment; nullopt (with the reason) when no launcher told enough. Call before the native
/// MPI_Init.
std::optional<JobIdentity> identify_job(std::string& why_not);

}  // namespace hocket::engine
