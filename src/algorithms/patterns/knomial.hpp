// The k-nomial tree over places 0..ranks-1 with root 0. Written in base k, a place's parent has its lowest
// non-zero digit cleared; so every subtree is a run of consecutive places, which keeps gathered blocks
// contiguous and reductions in order.
#pragma once

#include <vector>

#include "algorithms/patterns/logarithm.hpp"

namespace hocket::algorithms {

/// Places [first, first + count); `first` is the one that speaks for them.
struct Subtree {
  Rank first = 0;
  Rank count = 0;
  bool operator==(const Subtree&) const = default;
};

class KnomialTree {
 public:
  KnomialTree(Rank radix, Rank ranks) : radix_(radix), ranks_(ranks) {}

  /// radix^(trailing zero digits) of the place; for the root the first power that covers all.
  Rank weight(Rank place) const {
    std::int64_t w = 1;
    while (w < ranks_ && (place / w) % radix_ == 0) w *= radix_;
    return static_cast<Rank>(w < ranks_ ? w : ranks_);
  }

  Rank parent(Rank place) const {
    const Rank w = weight(place);
    return place - (place / w) % radix_ * w;
  }

  Subtree subtree(Rank place) const { return clipped(place, weight(place)); }

  /// Children by level, nearest first; inside a level ascending. Read in this order, the subtrees are
  /// consecutive.
  std::vector<std::vector<Subtree>> levels(Rank place) const {
    std::vector<std::vector<Subtree>> result;
    const Rank end = weight(place);
    for (std::int64_t w = 1; w < end && place + w < ranks_; w *= radix_) {
      auto& level = result.emplace_back();
      for (Rank digit = 1; digit < radix_ && place + digit * w < ranks_; ++digit)
        level.push_back(clipped(static_cast<Rank>(place + digit * w), static_cast<Rank>(w)));
    }
    return result;
  }

  /// All children, nearest first.
  std::vector<Subtree> children(Rank place) const {
    std::vector<Subtree> result;
    for (const auto& level : levels(place)) result.insert(result.end(), level.begin(), level.end());
    return result;
  }

 private:
  Subtree clipped(Rank first, Rank count) const {
    return {first, count < ranks_ - first ? count : ranks_ - first};
  }

  Rank radix_, ranks_;
};

}  // namespace hocket::algorithms
