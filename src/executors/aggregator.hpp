// What carries a schedule's aggregations out. Executors know no more of the network than this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "executors/operation.hpp"
#include "ir/schedule.hpp"
#include "transports/transport.hpp"

namespace hocket::executors {

/// One rank's part of an aggregation. All members start those of a group in the same order.
struct Aggregation {
  std::uint32_t group = 0;                        ///< index into the schedule's groups
  std::uint32_t step = 0;                         ///< by which it is settled
  ir::Collective kind = ir::Collective::barrier;  ///< allreduce, reduce, bcast or barrier
  Rank root = ir::everyone;                       ///< reduce, bcast: its name in the schedule
  const std::byte* source = nullptr;              ///< null: contributes nothing
  std::byte* target = nullptr;           ///< null: does not want the result. May be the same as the source
  std::size_t bytes = 0;                 ///< the same for all members; 0 in a barrier only
  const Reduction* reduction = nullptr;  ///< allreduce, reduce
};

class Aggregator {
 public:
  virtual ~Aggregator() = default;
  /// Source and target stay until the operation has ended. ok, pending (nothing is started: again later), or
  /// an error.
  virtual Status start(const Aggregation& aggregation) noexcept = 0;
  /// ok: the target has the result, the source is free; pending: again later; or an error. In any order.
  virtual Status settle(std::uint32_t group, std::uint32_t step) noexcept = 0;
  /// What those that are pending wait for.
  virtual transports::Blocker blocker() const noexcept { return {}; }
  /// All ops of a round have ended.
  virtual void end_round() noexcept {}
  /// Before a turn, while some have been started and not settled: goes on with them, where that takes asking.
  virtual void go_on() noexcept {}
};

}  // namespace hocket::executors
