#include "worker/own_cpus.hpp"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "engine/arena_layout.hpp"
#include "engine/cores.hpp"
#include "topology/cpu_list.hpp"

namespace hocket::worker {
namespace {

using Mask = std::vector<std::uint64_t>;

void set(const Mask& mask, const std::string& what) {
  if (sched_setaffinity(0, mask.size() * sizeof mask[0], reinterpret_cast<const cpu_set_t*>(mask.data())) !=
      0)
    throw Error("cannot run on " + what + ": " + std::strerror(errno));
}

Mask mask_of(const std::string& cpus) {
  const auto list = topology::cpu_list_in(cpus);
  if (!list || list->empty() || list->back().last >= static_cast<std::int64_t>(engine::max_cpus))
    throw Error("HOCKET_WORKER_CPUS: no list of CPUs: " + cpus);
  Mask mask(engine::max_cpus / 64);
  for (const topology::CpuRange& range : *list)
    for (std::int64_t cpu = range.first; cpu <= range.last; ++cpu)
      mask[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << static_cast<unsigned>(cpu % 64);
  return mask;
}

}  // namespace

void settle(const std::string& cpus, int ranks, int workers) {
  if (!cpus.empty()) return set(mask_of(cpus), "HOCKET_WORKER_CPUS=" + cpus);
  set(Mask(engine::max_cpus / 64, ~std::uint64_t{0}), "all CPUs");  // the system leaves out what is not ours
  const int cores = engine::cores_available();
  if (cores < ranks + workers)
    throw Error("no core is free for it (" + std::to_string(cores) + " for " + std::to_string(ranks) +
                " ranks" + (workers > 1 ? " and " + std::to_string(workers) + " workers" : "") +
                " on this node; HOCKET_WORKER_CPUS names some all the same)");
}

}  // namespace hocket::worker
