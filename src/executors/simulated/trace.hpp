// What a schedule costs one rank, in its order: the schedule without its data. Peers are distances, so that
// ranks which do the same relative to their place have equal traces; rounds that repeat are kept once, so a
// ring of any length is a few steps.
#pragma once

#include <vector>

#include "executors/simulated/network.hpp"
#include "ir/schedule.hpp"

namespace hocket::executors::simulated {

struct Step {
  enum class Kind : std::uint8_t { copy, reduce, send, recv, signal, wait, wait_everyone, aggregate, settle };
  Kind kind = Kind::copy;
  Rank distance = 0;  ///< places from this rank to its peer, around the circle: 1 .. ranks - 1; aggregate,
                      ///< settle: the least rank of the group, whose oldest that is not settled yet ends
  std::uint64_t amount = 0;  ///< bytes (aggregate: given, settle: got back); wait: the step waited for
  bool operator==(const Step&) const = default;
};

struct Round {
  std::uint32_t end = 0;      ///< index of the first step after it
  std::uint32_t repeats = 1;  ///< times that it runs
  bool operator==(const Round&) const = default;
};

struct Trace {
  std::vector<Step> steps;
  std::vector<Round> rounds;
  bool holds = false;  ///< sends: a round that holds some is several here
  bool operator==(const Trace&) const = default;
};

/// Bytes that stand for every chunk: the longest one. `bytes` is the vector, or one block.
std::uint64_t chunk_bytes(const ir::Schedule& schedule, std::uint64_t bytes);

/// Throws Error where aggregations settle in another order than they start in.
Trace trace_of(const ir::Schedule& schedule, std::uint64_t bytes);

/// Steps to simulate; a wait for everyone looks at every rank.
std::uint64_t steps_of(const Trace& trace, Rank ranks);

}  // namespace hocket::executors::simulated
