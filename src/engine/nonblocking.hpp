// Non-blocking operations of a communicator on one node: a lane of the arena of their own, so that blocking
// calls may overtake operations that are under way. Each persistent request has one more: ranks start such
// requests in different orders, so that each has to number its starts itself.
//
// docs/design/0007-non-blocking.md
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/call_marks.hpp"
#include "engine/decision.hpp"
#include "engine/guard.hpp"
#include "engine/lane_votes.hpp"
#include "engine/operation_pool.hpp"
#include "engine/outstanding.hpp"
#include "engine/prepared.hpp"
#include "engine/slot_part.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/lane.hpp"

namespace hocket::engine {

class LaneFlatOperation;
class LaneOperation;

class NonblockingLane final : public Starts {
 public:
  /// What it needs of its communicator, which outlives it.
  struct Ground {
    Engine& engine;
    const SlotKey& key;
    std::span<const Rank> members;
    Guard& guard;
    const SingleCopy& single_copy;
    transports::shm::Channel& channel;  ///< of blocking calls
  };

  /// `number`: 0, or of a persistent request among all of the communicator's, counted from 1. Null: the
  /// arena's budget is spent, for all ranks alike.
  static std::unique_ptr<NonblockingLane> open(const Ground& ground, std::uint32_t number);
  ~NonblockingLane() override;
  NonblockingLane(const NonblockingLane&) = delete;
  NonblockingLane& operator=(const NonblockingLane&) = delete;

  /// Carves what the operations run on. False: the arena's budget is spent.
  bool has_memory_for(const Prepared& prepared);
  Outstanding* start(const Prepared& prepared, const Call& call) noexcept override;

 private:
  friend class LaneFlatOperation;
  friend class LaneOperation;
  NonblockingLane(const Ground& ground, std::uint32_t number, std::byte* memory);
  void watch_blocking_calls(const Ground& ground);
  void make_cells(std::byte* memory);
  template <class Operation>
  Outstanding& prepare(OperationPool<Operation>& pool, const Prepared& prepared, const Call& call);
  void mark(std::uint32_t first, std::uint32_t count, const CallKind& kind) noexcept;

  Arena& arena_;
  const SlotKey lines_;
  Guard guard_;  ///< of this lane's instances; failures are the communicator's
  transports::shm::Lane lane_;
  const SingleCopy& single_copy_;
  LaneVotes votes_;
  transports::cma::PeerMemory peers_;
  SlotPart staging_memory_, cells_memory_;
  std::unique_ptr<transports::shm::Cells> cells_;
  OperationPool<LaneFlatOperation> flat_operations_;
  OperationPool<LaneOperation> operations_;
  // Operations over the cells run one after the other: a pair's messages are a stream.
  std::uint32_t streams_taken_ = 0, streams_left_ = 0;
};

}  // namespace hocket::engine
