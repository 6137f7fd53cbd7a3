#include "engine/cores.hpp"

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/arena_layout.hpp"
#include "engine/cgroup.hpp"
#include "engine/fingerprint.hpp"

namespace hocket::engine {
namespace {

double ratio(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// Version 2: "150000 100000", or "max 100000".
double quota_v2(const std::string& folder) {
  const auto line = first_line(folder + "/cpu.max");
  if (!line) return 0;
  char* end = nullptr;
  const double quota = std::strtod(line->c_str(), &end);
  return ratio(quota, std::strtod(end, nullptr));
}

/// Version 1: two files, -1 for no limit.
double quota_v1(const std::string& folder) {
  const auto quota = first_line(folder + "/cpu.cfs_quota_us");
  const auto period = first_line(folder + "/cpu.cfs_period_us");
  return quota && period ? ratio(std::strtod(quota->c_str(), nullptr), std::strtod(period->c_str(), nullptr))
                         : 0;
}

std::vector<std::uint64_t> affinity() {
  std::vector<std::uint64_t> mask(max_cpus / 64);
  if (sched_getaffinity(0, mask.size() * sizeof mask[0], reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
    mask[0] = 1;
  return mask;
}

/// Groups are compared by name and by the name space that the name is in.
std::uint64_t controller_id(const std::string& root) {
  struct stat info{};
  const std::uint64_t space = stat((root + "/proc/self/ns/cgroup").c_str(), &info) == 0 ? info.st_ino : 0;
  std::string text = std::to_string(space);
  for (const std::string& folder : cgroup_folders(root, "cpu")) text += " " + folder;
  return hash_of(text);
}

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const std::string& folder : cgroup_folders(root, "cpu"))
    for (const double quota : {quota_v2(folder), quota_v1(folder)})
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
  return least;
}

CpuLimits cpu_limits(const std::string& root) {
  return {affinity(), cpu_quota(root), controller_id(root)};
}

int cores_available(const std::string& root) {
  int cores = 0;
  for (std::uint64_t word : affinity()) cores += std::popcount(word);
  const double quota = cpu_quota(root);
  if (quota > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::max(cores, 1);
}

}  // namespace hocket::engine
