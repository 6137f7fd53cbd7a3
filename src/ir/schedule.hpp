// A schedule: what one rank does in one collective operation, as a value. docs/design/0001-the-engine.md says
// what it means.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::ir {

/// Names instead of a rank.
inline constexpr Rank self = -1;      ///< owner of a region: the rank that runs the op
inline constexpr Rank everyone = -2;  ///< peer of a wait: all other ranks; of an aggregation: no root

enum class Buffer : std::uint8_t {
  input,    ///< the user's send buffer; the output buffer where the call is in-place
  output,   ///< the user's receive buffer
  staging,  ///< shared with the node: written by its owner, readable by peers after a signal
  scratch,  ///< private
};

/// Chunks [first, first + count) of a buffer. Staging and scratch may have several planes: chunk c of plane k
/// has the number k * N + c, where N is the number of data chunks; it has the size of data chunk c.
struct Region {
  Rank owner = self;
  Buffer buffer = Buffer::input;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  bool operator==(const Region&) const = default;
};

enum class OpCode : std::uint8_t {
  send,    ///< regions, in order, to peer; complete at the end of the round (may be synchronous, and may not
           ///< start before, nor before as many recvs of its round have ended as hold it); one per peer and
           ///< round
  recv,    ///< regions, in order, from peer; complete at the end of the round
  copy,    ///< own target = own source
  read,    ///< own target = region of a peer (staging, or exposed input/output), one-sided
  reduce,  ///< own target = left fold of the sources in the order given; sources may be regions of peers
  expose,  ///< peers may read this part of the own input or output after the next signal, until they have
           ///< signalled that they are done
  signal,  ///< publish "step reached"; steps of a rank are 1, 2, 3, ...
  wait,    ///< until peer (or everyone) has reached step
  aggregate,  ///< starts what the ranks of a group do together in the network: each reads its region, if it
              ///< has one, and writes its target, if it has one, until it settles this step
  settle,     ///< at the end of the round the group's step has ended: its target is there, its source is free
};

struct Op {
  OpCode code = OpCode::copy;
  Rank peer = self;        ///< send, recv: the other side; wait: whose step; aggregate: the root, or everyone
  std::uint32_t step = 0;  ///< signal, wait; aggregate, settle: a number of the rank's own, once in its group
  std::uint32_t held = 0;  ///< send: until so many recvs of its round have ended, whichever
  std::uint32_t group = 0;  ///< aggregate, settle: index into Schedule::groups
  Region target;            ///< copy, read, reduce, expose, aggregate
  std::uint32_t first_region =
      0;  ///< index into Schedule::regions: sources of copy, read, reduce, aggregate; pieces of send, recv
  std::uint32_t regions = 0;
  bool operator==(const Op&) const = default;
};

/// The target of an aggregation whose result the rank does not want.
inline constexpr Region unwanted{self, Buffer::input, 0, 0};

/// The part of a buffer's chunk space that exists on a rank, and how many planes of it.
struct Window {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t planes = 1;
  bool operator==(const Window&) const = default;
};

/// One rank's program.
struct Schedule {
  Collective collective = Collective::barrier;
  Rank ranks = 1;
  Rank rank = 0;
  Rank root = 0;
  std::uint32_t chunks = 0;          ///< N: data chunks in all (0 for barrier)
  Window staging;                    ///< of this rank
  std::uint32_t scratch_planes = 0;  ///< each has all N chunks
  std::vector<Op> ops;
  std::vector<Region> regions;
  std::vector<std::uint32_t> rounds;  ///< index of the first op after each round; the last one is ops.size()
  /// Ranks that aggregate together: results are folded in their order. Members start the aggregations of a
  /// group in the same order; the n-th of one is the n-th of all.
  std::vector<std::vector<Rank>> groups;

  std::span<const Region> regions_of(const Op& op) const {
    return {regions.data() + op.first_region, op.regions};
  }
  bool operator==(const Schedule&) const = default;
};

/// What an aggregation is to its group: allreduce (all contribute, all want), barrier (neither), reduce (all
/// contribute, the root wants) or bcast (the root contributes, the others want). All members say the same.
Collective kind_of(const Schedule& schedule, const Op& aggregate);

/// An op of all ranks' schedules.
struct Place {
  Rank rank = 0;
  std::uint32_t op = 0;
};

/// Window of the user's buffers, fixed by the collective.
Window input_window(Collective c, Rank ranks, Rank rank, Rank root, std::uint32_t chunks);
Window output_window(Collective c, Rank ranks, Rank rank, Rank root, std::uint32_t chunks);

}  // namespace hocket::ir
