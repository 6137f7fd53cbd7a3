// Aggregations of a plan: started like any op, and asked at the end of the round that settles them.
#include "executors/machine.hpp"

namespace hocket::executors {

using ir::Op;
using ir::Region;
using transports::Piece;

Status Machine::aggregate(const Op& op) noexcept {
  if (!via_.aggregator) return Status::failed;
  const auto sources = plan_.schedule.regions_of(op);
  Aggregation aggregation{
      .group = op.group, .step = op.step, .kind = ir::kind_of(plan_.schedule, op), .root = op.peer};
  if (!sources.empty()) aggregation.source = whole(sources[0]).data;
  if (op.target.count > 0) aggregation.target = whole(op.target).data;
  if (op.target.count > 0 || !sources.empty())
    aggregation.bytes = whole(sources.empty() ? op.target : sources[0]).bytes;
  if (ir::is_reduction(aggregation.kind)) aggregation.reduction = &op_.reduction;
  // All members know the size: nothing has to be said of nothing.
  if (aggregation.bytes == 0 && aggregation.kind != ir::Collective::barrier) return Status::ok;
  const Status status = via_.aggregator->start(aggregation);
  if (status == Status::ok) space_.aggregations[aggregations_++] = {op.group, op.step};
  return status;
}

/// Chunks of a vector follow each other in each of its buffers.
Piece Machine::whole(const Region& region) const noexcept {
  Piece all = target(region, region.first);
  for (std::uint32_t i = 1; i < region.count; ++i) all.bytes += target(region, region.first + i).bytes;
  return all;
}

/// One of nothing has not been started.
void Machine::settle(const Op& op) noexcept {
  for (std::uint32_t i = 0; i < aggregations_; ++i) {
    Started& started = space_.aggregations[i];
    started.settles = started.settles || (started.group == op.group && started.step == op.step);
  }
}

bool Machine::settles() const noexcept {
  for (std::uint32_t i = 0; i < aggregations_; ++i)
    if (space_.aggregations[i].settles) return true;
  return false;
}

Status Machine::finish_aggregations() noexcept {
  for (std::uint32_t i = 0; i < aggregations_;) {
    const Started started = space_.aggregations[i];
    const Status status =
        started.settles ? via_.aggregator->settle(started.group, started.step) : Status::pending;
    if (status != Status::ok && status != Status::pending) return status;
    if (status == Status::pending) {
      ++i;
      continue;
    }
    ++progress_;
    space_.aggregations[i] = space_.aggregations[--aggregations_];
  }
  return settles() ? Status::pending : Status::ok;
}

}  // namespace hocket::executors
