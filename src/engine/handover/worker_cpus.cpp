#include "engine/handover/worker_cpus.hpp"

#include <algorithm>
#include <vector>

#include "topology/siblings.hpp"

namespace hocket::engine::handover {
namespace {

/// Cores are named by the lowest of their CPUs that may be used, so that sets of cores are masks as well.
class Cores {
 public:
  Cores(const CpuMask& usable, const std::string& folder) : core_of_(max_cpus, none) {
    for (std::size_t cpu = 0; cpu < max_cpus; ++cpu)
      if (usable.test(cpu) && core_of_[cpu] == none) add(cpu, usable, folder);
  }

  /// Those that have any of these CPUs.
  CpuMask of(const CpuMask& cpus) const {
    CpuMask cores;
    for (std::size_t cpu = 0; cpu < max_cpus; ++cpu)
      if (cpus.test(cpu) && core_of_[cpu] != none) cores.set(core_of_[cpu]);
    return cores;
  }
  CpuMask cpus_of(const CpuMask& cores) const {
    CpuMask cpus;
    for (std::size_t cpu = 0; cpu < max_cpus; ++cpu)
      if (core_of_[cpu] != none && cores.test(core_of_[cpu])) cpus.set(cpu);
    return cpus;
  }

 private:
  static constexpr std::size_t none = max_cpus;

  void add(std::size_t first, const CpuMask& usable, const std::string& folder) {
    for (const topology::CpuRange& range : topology::siblings_of(static_cast<std::int64_t>(first), folder))
      for (std::int64_t i = range.first; i <= std::min<std::int64_t>(range.last, max_cpus - 1); ++i)
        if (const auto cpu = static_cast<std::size_t>(i); usable.test(cpu)) core_of_[cpu] = first;
  }

  std::vector<std::size_t> core_of_;
};

/// Ranks with the same mask.
struct Group {
  CpuMask cores;
  std::size_t needed = 0;

  bool is_full() const { return needed >= cores.count(); }
};

std::vector<Group> groups_of(const RankCpus& ranks, const Cores& cores) {
  std::vector<Group> groups;
  for (const CpuMask& mask : ranks.masks) {
    const CpuMask own = cores.of(mask);
    auto group = std::ranges::find(groups, own, &Group::cores);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{own});
    group->needed += ranks.threads;
  }
  return groups;
}

CpuMask nth_part(const CpuMask& cores, std::size_t part, std::size_t parts) {
  const std::size_t first = part * cores.count() / parts, end = (part + 1) * cores.count() / parts;
  CpuMask found;
  std::size_t passed = 0;
  for (std::size_t core = 0; core < max_cpus; ++core) {
    if (!cores.test(core)) continue;
    if (passed >= first && passed < end) found.set(core);
    ++passed;
  }
  return found;
}

}  // namespace

CpuMask part_of(const CpuMask& cpus, std::size_t worker, std::size_t workers, const std::string& folder) {
  const Cores cores(cpus, folder);
  const CpuMask all = cores.of(cpus);
  return all.count() < workers ? cpus : cores.cpus_of(nth_part(all, worker, workers));
}

WorkerCpus cpus_for(std::size_t worker, std::size_t workers, const RankCpus& ranks, const CpuMask& usable,
                    const std::string& folder) {
  const Cores cores(usable, folder);
  CpuMask full, roomy;
  std::size_t needed = 0;  // of the roomy ones
  for (const Group& group : groups_of(ranks, cores)) {
    (group.is_full() ? full : roomy) |= group.cores;
    needed += group.is_full() ? 0 : group.needed;
  }
  roomy &= ~full;
  const CpuMask outside = cores.of(usable) & ~(full | roomy);
  const std::size_t inside = roomy.count() - std::min(needed, roomy.count());
  WorkerCpus found;
  found.left = inside + outside.count();
  found.are_enough = found.left >= workers;
  if (inside >= workers)
    found.cpus = cores.cpus_of(roomy);
  else if (outside.count() >= workers)
    found.cpus = cores.cpus_of(nth_part(outside, worker, workers));
  else
    found.cpus = cores.cpus_of(roomy | outside);
  return found;
}

}  // namespace hocket::engine::handover
