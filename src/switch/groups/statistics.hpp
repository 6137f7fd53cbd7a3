// What a switch has done since it was started.
#pragma once

#include <cstdint>
#include <map>

#include "switch/wire/frames.hpp"

namespace hocket::aggregation {

/// Bytes of a kind of connection, with all that frames add.
struct Traffic {
  std::uint64_t in = 0, out = 0;
};

struct Statistics {
  std::uint64_t connections = 0;       ///< accepted, whoever came
  std::uint64_t not_admitted = 0;      ///< of them: no member, another key, no port left
  std::uint64_t malformed = 0;         ///< members whose connections were ended because of what they sent
  std::uint64_t lost = 0;              ///< members that have gone
  std::uint64_t children = 0;          ///< members that are connected now
  std::uint64_t jobs = 0, groups = 0;  ///< now
  std::uint64_t groups_founded = 0, groups_failed = 0;
  std::map<wire::Error, std::uint64_t>
      refusals;  ///< as members here have heard them, and locks that were taken
  std::uint64_t small_operations = 0, streaming_operations = 0;  ///< ended
  Traffic below, above;
  std::uint64_t busy_ns = 0;  ///< not waiting
};

}  // namespace hocket::aggregation
