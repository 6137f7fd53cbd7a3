// What carries the aggregations of one call out: in each of the groups of leaders that this rank is in.
#pragma once

#include <memory>
#include <vector>

#include "engine/aggregation/group_operation.hpp"
#include "engine/aggregation/leader_groups.hpp"
#include "executors/aggregator.hpp"
#include "executors/plan.hpp"

namespace hocket::engine::aggregation {

class Aggregations final : public executors::Aggregator {
 public:
  /// Before a call by this plan. Throws std::bad_alloc.
  void begin(LeaderGroups& groups, const executors::Plan& plan, const transports::mpi::CallWords& call);

  Status start(const executors::Aggregation& what) noexcept override {
    return operations_[what.group]->start(what);
  }
  Status settle(std::uint32_t group, std::uint32_t step) noexcept override {
    return waits_for(group, operations_[group]->settle(step));
  }
  transports::Blocker blocker() const noexcept override { return operations_[waits_for_]->blocker(); }
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
  std::size_t groups_ = 0;
  std::size_t finished_ = 0;
  std::size_t waits_for_ = 0;
};

}  // namespace hocket::engine::aggregation
