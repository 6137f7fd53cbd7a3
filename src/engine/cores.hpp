// How many CPUs this process may use: its affinity mask, and the CPU time that its control group allows.
#pragma once

#include <sys/types.h>

#include <bitset>
#include <cstdint>
#include <string>

namespace hocket::engine {

inline constexpr std::size_t max_cpus = 8192;
using CpuMask = std::bitset<max_cpus>;

/// On which a process may run (0: this thread); CPU 0 where the system does not say.
CpuMask affinity_of(pid_t process) noexcept;
/// Of this thread. The system leaves out what is not to be had. False, with errno: nothing of it is.
bool set_affinity(const CpuMask& cpus) noexcept;
/// Of another process. False, with errno: not of its first thread.
bool set_affinity_of_all_threads(pid_t process, const CpuMask& cpus);

struct CpuLimits {
  CpuMask mask;                  ///< affinity
  double quota = 0;              ///< CPUs' worth of time; 0: no limit
  std::uint64_t controller = 0;  ///< processes with the same value share the quota
};

CpuLimits cpu_limits(const std::string& root = "");

/// CPUs' worth of time that the groups allow, the smallest of all levels; 0: no limit.
double cpu_quota(const std::string& root = "");

/// The affinity mask's count, within the quota (rounded up); at least 1.
int cores_available(const std::string& root = "");

}  // namespace hocket::engine
