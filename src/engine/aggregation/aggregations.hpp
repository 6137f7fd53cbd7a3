// What carries the aggregations of one call out: in each of the groups of leaders that this rank is in.
#pragma once

#include <memory>
#include <vector>

#include "engine/aggregation/group_operation.hpp"
#include "engine/aggregation/leader_groups.hpp"
#include "engine/aggregation/trace.hpp"
#include "executors/aggregator.hpp"
#include "executors/plan.hpp"

namespace hocket::engine::aggregation {

class Aggregations final : public executors::Aggregator {
 public:
  /// Before a call by this plan. Throws std::bad_alloc.
  void begin(LeaderGroups& groups, const executors::Plan& plan, const transports::mpi::CallWords& call);

  Status start(const executors::Aggregation& what) noexcept override {
    if (trace_ && what.group == 0) [[unlikely]]
      trace_->started(what.step);
    return operations_[what.group]->start(what);
  }
  Status settle(std::uint32_t group, std::uint32_t step) noexcept override {
    const Status status = waits_for(group, operations_[group]->settle(step));
    if (trace_ && group == 0 && status == Status::ok) [[unlikely]]
      trace_->settled(step);
    return status;
  }
  void end_round() noexcept override {
    if (trace_) [[unlikely]]
      trace_->ended_round();
  }
  transports::Blocker blocker() const noexcept override;
  void go_on() noexcept override;

  // After the schedule has ended, as a machine goes on:

  Status advance() noexcept;
  std::size_t progress() const noexcept;

  /// Instead: the call has failed.
  void abandon() noexcept;

 private:
  Status waits_for(std::size_t group, Status status) noexcept {
    if (status == Status::pending) waits_for_ = group;
    return status;
  }

  std::vector<std::unique_ptr<GroupOperation>> operations_;  ///< by the schedule's groups
  Trace* trace_ = nullptr;                                   ///< of the first group, if one is asked for
  std::size_t groups_ = 0;
  std::size_t finished_ = 0;
  std::size_t waits_for_ = 0;
};

}  // namespace hocket::engine::aggregation
