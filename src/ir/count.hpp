// What one rank's schedule costs, in chunks or in bytes. The claims of the catalog are compared with these
// numbers.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/schedule.hpp"

namespace hocket::ir {

struct Counters {
  std::uint64_t rounds = 0;    ///< in which the rank communicates: rounds with a send, recv, wait or settle
  std::uint64_t messages = 0;  ///< sends
  std::uint64_t sent = 0;      ///< by send, and into the network to be aggregated
  std::uint64_t received = 0;  ///< by recv, from the memory of peers and out of the network
  std::uint64_t copied = 0;    ///< from own memory to own memory
  std::uint64_t reduced = 0;   ///< pairs combined: a fold of k sources is k - 1
  std::uint64_t signals = 0;
  std::uint64_t waits = 0;  ///< a wait for everyone is one
  bool operator==(const Counters&) const = default;
};

/// `size` of a data chunk, 0 .. chunks - 1. Where blocks are unequal in alltoall this is the size of the
/// outgoing block.
Counters count(const Schedule& schedule, const std::function<std::uint64_t(std::uint32_t)>& size);

/// In chunks.
Counters count(const Schedule& schedule);

}  // namespace hocket::ir
