// Who takes part: ranks enter themselves, and one verdict, the same for all, ends that.
#pragma once

#include <string>
#include <vector>

#include "engine/arena_memory.hpp"

namespace hocket::engine {

/// Byte of the memfd that local rank `local` locks while it lives; far from the content, of which locks know
/// nothing.
constexpr off_t presence_byte(std::size_t local) {
  return (off_t{1} << 20) + static_cast<off_t>(local);
}

struct Newcomer {
  int local_rank = 0;
  int local_size = 1;
  int world_rank = 0;
  int world_size = 1;
  std::string fingerprint;
};

/// This process takes its place. False if it may not: why_not says the reason. A process of another kind
/// makes the verdict `refused`.
bool enter(const ArenaMemory& memory, const Newcomer& newcomer, std::string& why_not);

bool all_entered(const ArenaMemory& memory);

/// Ends the entering and returns the verdict. Any number of processes may do so at once; all come to the
/// same.
Verdict decide(const ArenaMemory& memory);

/// After a refusal: who differs in what.
std::string disagreement(const ArenaMemory& memory);
/// After sealing: who is missing; empty if nobody.
std::string missing_ranks(const ArenaMemory& memory);

/// CPUs that the members may use together: the union of their affinity masks, within the cgroups' quotas.
int cores_of_members(const ArenaMemory& memory);
/// Each member's.
std::vector<CpuMask> cpus_of_members(const ArenaMemory& memory);

bool is_alive(const ArenaMemory& memory, std::size_t local_rank);

}  // namespace hocket::engine
