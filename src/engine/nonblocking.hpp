// The non-blocking side of a communicator on one node: a lane of the arena of its own, so that blocking calls
// may overtake operations that are under way, and what was decided for calls of each kind.
//
// docs/design/0007-non-blocking.md
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/call_marks.hpp"
#include "engine/decision.hpp"
#include "engine/guard.hpp"
#include "engine/outstanding.hpp"
#include "engine/prepared.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/lane.hpp"

namespace hocket::engine {

class LaneOperation;

class NonblockingLane {
 public:
  /// Null: the arena's budget is spent. All but the arena's memory is the communicator's, and outlives it.
  static std::unique_ptr<NonblockingLane> open(Engine& engine, const SlotKey& key,
                                               std::span<const Rank> members, Rank rank,
                                               transports::Waiting waiting);
  ~NonblockingLane();
  NonblockingLane(const NonblockingLane&) = delete;
  NonblockingLane& operator=(const NonblockingLane&) = delete;

  /// Carves what the algorithm runs on. False: the arena's budget is spent.
  bool has_memory_for(const algorithms::Algorithm& algorithm);

  /// Numbers the operation and makes its first steps. Null: no memory for it on this rank, which ends the
  /// lane for all; see error().
  Outstanding* start(const Prepared& prepared, const Call& call) noexcept;

  bool failed() const noexcept { return guard_.failed(); }
  std::string error() const { return guard_.error(); }

 private:
  friend class LaneOperation;
  struct Part {
    std::uint32_t number;  ///< in the slot's key
    bool asked = false;
    std::byte* memory = nullptr;
  };

  NonblockingLane(Engine& engine, const SlotKey& key, std::span<const Rank> members, Rank rank,
                  std::byte* memory, transports::Waiting waiting);
  std::byte* carve(Part& part, std::size_t bytes);
  LaneOperation& unused();
  void give_back(LaneOperation& operation) noexcept;
  void mark(std::uint32_t first, std::uint32_t count, const CallKind& kind) noexcept;

  Engine& engine_;
  const SlotKey key_;
  Guard guard_;
  transports::shm::Lane lane_;
  Part staging_memory_, cells_memory_;
  std::unique_ptr<transports::shm::Cells> cells_;
  std::vector<std::unique_ptr<LaneOperation>> operations_;
  std::vector<LaneOperation*> unused_;  ///< a heap, the oldest first
  // Operations over the cells run one after the other: a pair's messages are a stream.
  std::uint32_t streams_taken_ = 0, streams_left_ = 0;
};

}  // namespace hocket::engine
