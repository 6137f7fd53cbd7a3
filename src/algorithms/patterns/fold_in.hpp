// How algorithms for a power of two of ranks serve any number: the first `extra` pairs of neighbours fold
// into one place each, (0,1) (2,3) ...; every place then stands for a run of consecutive ranks, so that
// operands keep their order. Thakur, Rabenseifner, Gropp 2005.
#pragma once

#include "algorithms/patterns/logarithm.hpp"

namespace hocket::algorithms {

class FoldIn {
 public:
  explicit constexpr FoldIn(Rank ranks) : places_(floor_power_of_two(ranks)), extra_(ranks - places_) {}

  constexpr Rank places() const { return places_; }
  constexpr bool folds() const { return extra_ > 0; }
  /// Gives its data to the next rank and sits out until the end.
  constexpr bool gives(Rank rank) const { return rank < 2 * extra_ && rank % 2 == 0; }
  /// Speaks for the rank before it, too.
  constexpr bool takes(Rank rank) const { return rank < 2 * extra_ && rank % 2 == 1; }
  /// Place of a rank (of the pair, for the two that share one).
  constexpr Rank place(Rank rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  /// The rank that works at a place.
  constexpr Rank rank_at(Rank place) const { return place < extra_ ? 2 * place + 1 : place + extra_; }
  /// The first rank that a place stands for; first_rank(places()) is the number of ranks.
  constexpr Rank first_rank(Rank place) const { return place < extra_ ? 2 * place : place + extra_; }

 private:
  Rank places_, extra_;
};

}  // namespace hocket::algorithms
