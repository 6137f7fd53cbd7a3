// Which job this process belongs to and which place on this node it has, as told by the launcher's
// environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hocket::engine {

struct JobIdentity {
  std::string key;  ///< unique per job (and user) on this node
  int local_rank = 0;
  int local_size = 1;  ///< ranks of the job that the launcher started on this node
  std::string source;  ///< "PMIx", "hydra", "slurm", "HOCKET_JOB": for doctor and report
};

/// Reads the environment; nullopt (with the reason) when no launcher told enough. Call before the native
/// MPI_Init. `own_launcher`: a source, the one that comes with this MPI, asked before the others: a job that
/// a rank of another MPI's job has started inherits what the outer launcher told.
std::optional<JobIdentity> identify_job(std::string& why_not, std::string_view own_launcher = {});

}  // namespace hocket::engine
