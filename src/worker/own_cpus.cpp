#include "worker/own_cpus.hpp"

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "topology/cpu_list.hpp"

namespace hocket::worker {
namespace {

using engine::CpuMask;

CpuMask set(const CpuMask& mask, const std::string& what) {
  if (!engine::set_affinity(mask)) throw Error("cannot run on " + what + ": " + std::strerror(errno));
  return engine::affinity_of(0);
}

CpuMask mask_of(const std::string& cpus) {
  const auto list = topology::cpu_list_in(cpus);
  if (!list || list->empty() || list->back().last >= static_cast<std::int64_t>(engine::max_cpus))
    throw Error("HOCKET_WORKER_CPUS: no list of CPUs: " + cpus);
  CpuMask mask;
  for (const topology::CpuRange& range : *list)
    for (std::int64_t cpu = range.first; cpu <= range.last; ++cpu) mask.set(static_cast<std::size_t>(cpu));
  return mask;
}

}  // namespace

OwnCpus settle(const std::string& cpus, int ranks, int workers) {
  if (!cpus.empty()) return {set(mask_of(cpus), "HOCKET_WORKER_CPUS=" + cpus), true};
  const CpuMask all = set(~CpuMask(), "all CPUs");  // the system leaves out what is not ours
  const int cores = engine::cores_available();
  if (cores < ranks + workers)
    throw Error("no core is free for it (" + std::to_string(cores) + " for " + std::to_string(ranks) +
                " ranks" + (workers > 1 ? " and " + std::to_string(workers) + " workers" : "") +
                " on this node; HOCKET_WORKER_CPUS names some all the same)");
  return {all, false};
}

}  // namespace hocket::worker
