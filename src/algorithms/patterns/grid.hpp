// A grid of ranks: `radix` of them in each dimension, in the last one as many as are left.
#pragma once

#include "ir/collective.hpp"

namespace hocket::algorithms {

using ir::Rank;

/// Whether the ranks fill such a grid.
constexpr bool fills_grid(Rank ranks, Rank radix) {
  for (; ranks > radix; ranks /= radix)
    if (ranks % radix != 0) return false;
  return true;
}

/// Distances are numbers with a digit for each dimension.
struct Grid {
  Rank ranks, radix;

  constexpr Rank after(Rank rank, Rank distance) const { return moved(rank, distance, false); }
  constexpr Rank before(Rank rank, Rank distance) const { return moved(rank, distance, true); }

 private:
  constexpr Rank moved(Rank rank, Rank distance, bool back) const {
    Rank found = 0;
    for (Rank weight = 1; weight < ranks; weight *= radix) {
      const Rank width = ranks / weight < radix ? ranks / weight : radix;
      const Rank own = rank / weight % radix, other = distance / weight % radix;
      found += (own + (back ? width - other : other)) % width * weight;
    }
    return found;
  }
};

}  // namespace hocket::algorithms
