// Ranks on a circle: neighbours, ranks as seen from a root, and runs of blocks that wrap around.
#pragma once

#include <vector>

#include "ir/builder.hpp"

namespace hocket::algorithms {

using ir::Rank;

/// The rank `by` places after (before) `rank`; `by` is at most `ranks`.
constexpr Rank after(Rank rank, Rank by, Rank ranks) {
  return (rank + by) % ranks;
}
constexpr Rank before(Rank rank, Rank by, Rank ranks) {
  return (rank + ranks - by) % ranks;
}

/// A rank's place on the circle that starts at the root, and back.
constexpr Rank place_of(Rank rank, Rank root, Rank ranks) {
  return before(rank, root, ranks);
}
constexpr Rank rank_at(Rank place, Rank root, Rank ranks) {
  return after(place, root, ranks);
}

/// The region of `count` chunks from `first`: ir::input, ir::output, ir::scratch or ir::staging.
using RegionOf = ir::Region (*)(std::uint32_t first, std::uint32_t count);

/// Appends blocks first, first + 1, ... (`count` of them, around the circle) to `pieces`: none, one or two
/// regions.
inline void append_run(std::vector<ir::Region>& pieces, RegionOf buffer, Rank first, Rank count, Rank ranks) {
  const Rank start = first % ranks;
  const Rank straight = count < ranks - start ? count : ranks - start;
  if (straight > 0) pieces.push_back(buffer(start, straight));
  if (count > straight) pieces.push_back(buffer(0, count - straight));
}

inline std::vector<ir::Region> run_of(RegionOf buffer, Rank first, Rank count, Rank ranks) {
  std::vector<ir::Region> pieces;
  append_run(pieces, buffer, first, count, ranks);
  return pieces;
}

}  // namespace hocket::algorithms
