// The ranks of one node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::transports::shm {

using ir::Rank;

class NodeRanks {
 public:
  /// `ranks`: in ascending order, the same on all of them.
  explicit NodeRanks(std::vector<Rank> ranks) : ranks_(std::move(ranks)) {}

  std::size_t size() const noexcept { return ranks_.size(); }
  /// Of a rank among them; -1: it is elsewhere.
  Rank place_of(Rank rank) const noexcept {
    const auto found = std::ranges::lower_bound(ranks_, rank);
    return found == ranks_.end() || *found != rank ? -1 : static_cast<Rank>(found - ranks_.begin());
  }

 private:
  std::vector<Rank> ranks_;
};

}  // namespace hocket::transports::shm
