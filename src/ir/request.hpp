// What a builder may know. Everything except `rank` is the same on all ranks, and nothing here depends on the
// message size.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/collective.hpp"

namespace hocket::ir {

/// Values of an algorithm's parameters, in the order of its catalog row.
using Parameters = std::array<std::int32_t, 3>;

struct Request {
  Collective collective = Collective::barrier;
  Rank ranks = 1;
  Rank rank = 0;
  Rank root = 0;            ///< rooted collectives only
  bool commutative = true;  ///< reductions: the operands may change places
  Parameters parameters{};

  Request seen_by(Rank other) const {
    Request r = *this;
    r.rank = other;
    return r;
  }
};

}  // namespace hocket::ir
