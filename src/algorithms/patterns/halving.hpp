// Recursive vector halving: which part of a vector a place still holds. Partners differ in one bit of their
// places; each keeps one half of the part that both hold and gives the other half away.
#pragma once

#include "ir/collective.hpp"

namespace hocket::algorithms {

using ir::Rank;

struct Range {
  Rank first = 0;
  Rank end = 0;
  constexpr Rank count() const { return end - first; }
  constexpr Range lower() const { return {first, first + count() / 2}; }
  constexpr Range upper() const { return {first + count() / 2, end}; }
  constexpr bool operator==(const Range&) const = default;
};

/// What `place` keeps of `held`, and what it gives to the partner at `distance` (a power of two).
constexpr Range kept(Range held, Rank place, Rank distance) {
  return place & distance ? held.upper() : held.lower();
}
constexpr Range given(Range held, Rank place, Rank distance) {
  return place & distance ? held.lower() : held.upper();
}

}  // namespace hocket::algorithms
