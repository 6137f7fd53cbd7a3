// Whole-number logarithms: how many steps a tree, a hypercube or a Bruck exchange takes.
#pragma once

#include "ir/collective.hpp"

namespace hocket::algorithms {

using ir::Rank;

/// Smallest n with radix^n >= value.
constexpr Rank ceil_log(Rank radix, Rank value) {
  Rank n = 0;
  for (std::int64_t power = 1; power < value; power *= radix) ++n;
  return n;
}

/// Largest power of two <= value.
constexpr Rank floor_power_of_two(Rank value) {
  Rank power = 1;
  while (power <= value / 2) power *= 2;
  return power;
}

constexpr bool is_power_of_two(Rank value) {
  return floor_power_of_two(value) == value;
}

}  // namespace hocket::algorithms
