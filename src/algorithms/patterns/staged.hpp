// Copy-in, copy-out: what the one-sided rows have in common. A rank stages what peers will read, and reads
// peers' staging buffers in place: an operand of a reduction is never copied first.
#pragma once

#include <vector>

#include "ir/builder.hpp"

namespace hocket::algorithms {

using ir::Builder;
using ir::Rank;
using ir::Region;
using ir::Request;

/// staging = input, chunks [0, chunks) without `skipped`, which no peer reads.
inline void stage_all_but(Builder& b, std::uint32_t skipped, std::uint32_t chunks) {
  if (skipped > 0) b.copy(ir::staging(0, skipped), ir::input(0, skipped));
  const std::uint32_t next = skipped + 1;
  if (next < chunks) b.copy(ir::staging(next, chunks - next), ir::input(next, chunks - next));
}

/// Contributions of ranks [0, end) to a chunk, in the order of ranks: the own one from the input, the others'
/// from staging.
inline std::vector<Region> contributions(const Request& r, std::uint32_t chunk, Rank end) {
  std::vector<Region> sources;
  for (Rank peer = 0; peer < end; ++peer)
    sources.push_back(peer == r.rank ? ir::input(chunk) : ir::of(peer, ir::staging(chunk)));
  return sources;
}

}  // namespace hocket::algorithms
