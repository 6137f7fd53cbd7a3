// Vector clocks: what every rank knows of the others' progress (Mattern, "Virtual time and global states",
// 1989).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::ir {

using Time = std::uint32_t;

class Clocks {
 public:
  using Snapshot = std::vector<Time>;

  explicit Clocks(Rank ranks) : now_(ranks, Snapshot(ranks, 0)) {
    for (Rank r = 0; r < ranks; ++r) now_[r][r] = 1;  // time 1: the rank has begun
  }

  Time tick(Rank r) { return ++now_[r][r]; }
  const Snapshot& of(Rank r) const { return now_[r]; }
  void merge(Rank r, const Snapshot& seen) {
    std::ranges::transform(now_[r], seen, now_[r].begin(), [](Time a, Time b) { return std::max(a, b); });
  }
  /// Does what `other` did at `time` happen before what r does now?
  bool knows(Rank r, Rank other, Time time) const { return now_[r][other] >= time; }

 private:
  std::vector<Snapshot> now_;
};

}  // namespace hocket::ir
