// Where the workers of a node run: on what its ranks leave free.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/cores.hpp"

namespace hocket::engine::handover {

/// Of the ranks of a node: each with its affinity, and what it computes with.
struct RankCpus {
  std::span<const CpuMask> masks;
  std::size_t threads = 1;  ///< of each
};

struct WorkerCpus {
  bool are_enough = false;  ///< a core for each worker, beside those that the ranks need
  std::size_t left = 0;     ///< cores that they do not need
  CpuMask cpus;             ///< for a worker
};

/// For one of `workers`, of the CPUs that they might use (`usable`). Ranks with one mask need as many of its
/// cores as they have threads, all of them at most; a core that has a CPU of theirs is theirs. Where ranks
/// can move in masks that have more, workers move there, too; else each has a part of its own of what is in
/// no rank's mask. `folder`: as /sys/devices/system.
WorkerCpus cpus_for(std::size_t worker, std::size_t workers, const RankCpus& ranks, const CpuMask& usable,
                    const std::string& folder = "/sys/devices/system");

/// A part of its own, as far as there are cores for all; else all of them.
CpuMask part_of(const CpuMask& cpus, std::size_t worker, std::size_t workers,
                const std::string& folder = "/sys/devices/system");

}  // namespace hocket::engine::handover
