// How many CPUs this process may use: its affinity mask, and the CPU time that its control group allows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::engine {

struct CpuLimits {
  std::vector<std::uint64_t> mask;  ///< affinity, one bit per CPU
  double quota = 0;                 ///< CPUs' worth of time; 0: no limit
  std::uint64_t controller = 0;     ///< processes with the same value share the quota
};

CpuLimits cpu_limits(const std::string& root = "");

/// CPUs' worth of time that the groups allow, the smallest of all levels; 0: no limit.
double cpu_quota(const std::string& root = "");

/// The affinity mask's count, within the quota (rounded up); at least 1.
int cores_available(const std::string& root = "");

}  // namespace hocket::engine
