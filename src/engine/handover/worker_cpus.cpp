#include "engine/handover/worker_cpus.hpp"

#include <algorithm>

#include "topology/siblings.hpp"

namespace hocket::engine::handover {
namespace {

/// A core that is shared is not free.
void add_core_of(std::size_t cpu, const std::string& folder, CpuMask& taken) {
  for (const topology::CpuRange& range : topology::siblings_of(static_cast<std::int64_t>(cpu), folder))
    for (std::int64_t i = range.first; i <= std::min<std::int64_t>(range.last, max_cpus - 1); ++i)
      taken.set(static_cast<std::size_t>(i));
}

}  // namespace

LeftCpus left_by(std::span<const CpuMask> ranks, const CpuMask& usable, const std::string& folder) {
  LeftCpus left;
  CpuMask bound, taken;
  for (const CpuMask& rank : ranks)
    if ((rank & usable) == usable)
      ++left.roam;
    else
      bound |= rank;
  for (std::size_t cpu = 0; cpu < max_cpus; ++cpu)
    if (bound.test(cpu) && !taken.test(cpu)) add_core_of(cpu, folder, taken);
  left.cpus = usable & ~taken;
  return left;
}

CpuMask part_of(const LeftCpus& left, std::size_t worker, std::size_t workers) {
  const std::size_t count = left.cpus.count();
  if (left.roam != 0 || count < workers) return left.cpus;
  const std::size_t first = worker * count / workers, end = (worker + 1) * count / workers;
  CpuMask part;
  std::size_t passed = 0;
  for (std::size_t cpu = 0; cpu < max_cpus; ++cpu) {
    if (!left.cpus.test(cpu)) continue;
    if (passed >= first && passed < end) part.set(cpu);
    ++passed;
  }
  return part;
}

}  // namespace hocket::engine::handover
