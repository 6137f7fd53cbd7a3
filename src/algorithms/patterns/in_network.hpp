// One aggregation of all ranks. It is settled a round after it has been started: cut into segments, two of
// them are in the network at any time.
#pragma once

#include <numeric>
#include <vector>

#include "algorithms/builders.hpp"

namespace hocket::algorithms {

inline void aggregate_all(const Request& r, Rank root, Region target, std::span<const Region> source,
                          Builder& b) {
  std::vector<Rank> all(static_cast<std::size_t>(r.ranks));
  std::iota(all.begin(), all.end(), 0);
  const std::uint32_t group = b.group(all);
  const std::uint32_t step = b.aggregate(group, root, target, source);
  b.round();
  b.settle(group, step);
}

}  // namespace hocket::algorithms
