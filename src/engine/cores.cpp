#include "engine/cores.hpp"

#include <dirent.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

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

/// Groups are compared by name and by the name space that the name is in.
std::uint64_t controller_id(const std::string& root) {
  struct stat info{};
  const std::uint64_t space = stat((root + "/proc/self/ns/cgroup").c_str(), &info) == 0 ? info.st_ino : 0;
  std::string text = std::to_string(space);
  for (const std::string& folder : cgroup_folders(root, "cpu")) text += " " + folder;
  return hash_of(text);
}

bool set_affinity_of(pid_t thread, const CpuMask& cpus) noexcept {
  return sched_setaffinity(thread, sizeof cpus, reinterpret_cast<const cpu_set_t*>(&cpus)) == 0;
}

}  // namespace

static_assert(sizeof(CpuMask) == max_cpus / 8);  // words of long, as the kernel has them

CpuMask affinity_of(pid_t process) noexcept {
  CpuMask mask;
  if (sched_getaffinity(process, sizeof mask, reinterpret_cast<cpu_set_t*>(&mask)) != 0) mask = CpuMask(1);
  return mask;
}

bool set_affinity(const CpuMask& cpus) noexcept {
  return set_affinity_of(0, cpus);
}

bool set_affinity_of_all_threads(pid_t process, const CpuMask& cpus) {
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(threads.c_str()), closedir);
  for (const dirent* entry = nullptr; folder && (entry = readdir(folder.get())) != nullptr;)
    if (const long thread = std::strtol(entry->d_name, nullptr, 10); thread > 0)
      set_affinity_of(static_cast<pid_t>(thread), cpus);
  return set_affinity_of(process, cpus);
}

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const std::string& folder : cgroup_folders(root, "cpu"))
    for (const double quota : {quota_v2(folder), quota_v1(folder)})
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
  return least;
}

CpuLimits cpu_limits(const std::string& root) {
  return {affinity_of(0), cpu_quota(root), controller_id(root)};
}

int cores_available(const std::string& root) {
  auto cores = static_cast<int>(affinity_of(0).count());
  const double quota = cpu_quota(root);
  if (quota > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::max(cores, 1);
}

}  // namespace hocket::engine
