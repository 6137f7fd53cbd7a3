// Bruck's index algorithm: a block that has `offset` places to go travels by the digits of that number. In
// the step of weight w all blocks whose digit is d move d * w places on. Bruck, Ho, Kipnis, Upfal, Weathersby
// 1997.
#pragma once

#include "algorithms/patterns/logarithm.hpp"

namespace hocket::algorithms {

constexpr Rank digit(Rank offset, Rank weight, Rank radix) {
  return offset / weight % radix;
}

/// True if no digit above `weight` is left to do: the block arrives in this step.
constexpr bool arrives(Rank offset, Rank weight, Rank radix) {
  return offset / weight < radix;
}

/// Blocks that a rank receives in all.
constexpr Rank bruck_blocks(Rank ranks, Rank radix) {
  Rank blocks = 0;
  for (Rank weight = 1; weight < ranks; weight *= radix)
    for (Rank offset = 1; offset < ranks; ++offset) blocks += digit(offset, weight, radix) != 0;
  return blocks;
}

}  // namespace hocket::algorithms
