// The inside of one node, from what each of its CPUs belongs to. Every reader of a node's inside ends here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

/// One that programs can run on: what the operating system counts.
struct Cpu {
  static constexpr std::int64_t unknown = -1;
  std::int64_t number = 0;
  std::int64_t package = unknown;  ///< the operating system's number
  std::int64_t numa = unknown;     ///< the operating system's number
  std::int64_t l3 = unknown;       ///< the lowest CPU that shares it
  std::int64_t core = unknown;     ///< the lowest CPU of the core
};

/// Of what is unknown there is no vertex. Packages and NUMA nodes have the operating system's numbers, L3s
/// are counted, a core is named by its CPUs: "3,67". What reaches beyond the border of what contains it, as a
/// NUMA node over two packages, is in each of them.
Tree tree_of(const std::string& node, std::vector<Cpu> cpus);

}  // namespace hocket::topology
