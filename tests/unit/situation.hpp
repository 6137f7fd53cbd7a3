// A call as rules see it, on one node unless more is said.
#pragma once

#include <cstddef>

#include "tuning/rules.hpp"

namespace hocket::tuning::test {

inline Situation situation(ir::Collective collective, ir::Rank ranks = 4, std::size_t bytes = 1024) {
  Situation s;
  s.collective = collective;
  s.ranks = ranks;
  s.bytes = bytes;
  return s;
}

}  // namespace hocket::tuning::test
