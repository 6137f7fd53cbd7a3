#include "engine/aggregation/aggregations.hpp"

#include <utility>

namespace hocket::engine::aggregation {

void Aggregations::begin(LeaderGroups& groups, const executors::Plan& plan,
                         const transports::mpi::CallWords& call) {
  groups_ = plan.schedule.groups.size();
  finished_ = waits_for_ = 0;
  trace_ = groups_ != 0 ? groups.trace() : nullptr;
  if (trace_) trace_->begin(plan.aggregations.front());
  while (operations_.size() < groups_) operations_.push_back(std::make_unique<GroupOperation>());
  for (std::size_t i = 0; i < groups_; ++i) {
    LeaderGroup& group = groups.of(plan.schedule.groups[i]);
    operations_[i]->begin(group, call, groups.patience_ns(), plan.aggregations[i]);
  }
}

/// What it meets with, the next settle says.
void Aggregations::go_on() noexcept {
  for (std::size_t i = 0; i < groups_; ++i) (void)operations_[i]->go_on();
}

/// A descriptor tells of one tree: where another one is waited for, too, none tells of all.
transports::Blocker Aggregations::blocker() const noexcept {
  transports::Blocker first = operations_[waits_for_]->blocker();
  for (std::size_t i = finished_; i < groups_; ++i)
    if (operations_[i]->is_pending() && operations_[i]->blocker().descriptor != first.descriptor)
      first.descriptor = -1;
  return first;
}

Status Aggregations::advance() noexcept {
  if (trace_) [[unlikely]]
    std::exchange(trace_, nullptr)->end();
  for (; finished_ < groups_; ++finished_)
    if (const Status status = operations_[finished_]->finish(); status != Status::ok)
      return waits_for(finished_, status);
  return Status::ok;
}

std::size_t Aggregations::progress() const noexcept {
  std::size_t progress = finished_;
  for (std::size_t i = 0; i < groups_; ++i) progress += operations_[i]->progress();
  return progress;
}

void Aggregations::abandon() noexcept {
  for (std::size_t i = finished_; i < groups_; ++i) operations_[i]->abandon();
  groups_ = finished_ = 0;
}

}  // namespace hocket::engine::aggregation
