// Where the workers of a node run: on what its ranks leave free.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/cores.hpp"

namespace hocket::engine::handover {

struct LeftCpus {
  CpuMask cpus;           ///< of no rank that is bound to some, nor of a core that has one of those
  std::size_t roam = 0;   ///< ranks that are not bound: each needs one of them

  bool are_enough_for(std::size_t workers) const { return cpus.count() >= roam + workers; }
};

/// What `ranks`, each with its affinity, leave of the CPUs that a worker might use. A rank that may run on all
/// of these is not bound. `folder`: as /sys/devices/system.
LeftCpus left_by(std::span<const CpuMask> ranks, const CpuMask& usable,
                 const std::string& folder = "/sys/devices/system");

/// Those of one of `workers`: a part of its own, if there are enough and no rank roams among them; else all.
CpuMask part_of(const LeftCpus& left, std::size_t worker, std::size_t workers);

}  // namespace hocket::engine::handover
