#include "engine/spread_operation.hpp"

#include "executors/blocking.hpp"

namespace hocket::engine {

std::optional<aggregation::LeaderGroups> leaders_of(const SpreadGround& ground, const SpreadGuard::Id& id,
                                                    aggregation::LeaderGroups::Kind kind, Rank rank) {
  if (!ground.in_network) return std::nullopt;
  return std::optional<aggregation::LeaderGroups>(std::in_place, ground.in_network, ground.network, id, kind,
                                                  ground.members, rank);
}

void SpreadOperation::prepare(const Path& path, const Call& call, const SpreadGuard::Turn& turn,
                              std::uint32_t signature) {
  turn_ = turn;
  long_wait_ = {};
  call_ = call;
  plan_ = path.plan.get();
  op_ = &call_;
  if (call.in_place && path.copies_input)
    op_ = &input_copy_.of(call_, static_cast<Rank>(ground_.members.size()));
  messages_.begin(turn.number, signature, words_of(turn.mark));
  ahead_ = path.ahead.get();
  part_ = ahead_ ? Part::sizes : Part::last;
  progress_before_ = 0;
  is_leaving_ = false;
  if (plan_->aggregates()) aggregations_.begin(*leaders_, *plan_, words_of(turn.mark));
  if (ahead_)
    lay(ahead_->plan, sizes_.gather(*ahead_, *op_));
  else
    lay(*plan_, *op_);
}

/// When their sizes have come.
Status SpreadOperation::small_blocks() {
  if (const auto found = sizes_.disagreement(*ahead_)) {
    messages_.disagree(found->from, found->to, found->sent, found->expected);
    return Status::mismatch;
  }
  lay(*plan_, sizes_.small(*ahead_, *op_, plan_->schedule.scratch_planes));
  part_ = Part::small_blocks;
  return Status::ok;
}

/// The next part: messages of the same operation.
Status SpreadOperation::follow_up() noexcept {
  progress_before_ += run_->progress();
  try {
    if (part_ == Part::sizes) return small_blocks();
    lay(ahead_->direct, sizes_.large(*ahead_, *op_));
    part_ = Part::last;
    return Status::ok;
  } catch (...) {
    return Status::no_memory;
  }
}

template <class Run>
Status SpreadOperation::in_parts(Run run) noexcept {
  for (;;) {
    Status status = run();
    if (status != Status::ok || part_ == Part::last) return status;
    status = follow_up();
    if (status != Status::ok) return status;
  }
}

/// The leaders stay until all of them have what the network did.
Status SpreadOperation::leave() noexcept {
  is_leaving_ = true;
  return aggregations_.advance();
}

Status SpreadOperation::advance() noexcept {
  if (is_leaving_) return leave();
  const Status status = in_parts([this] { return run_->advance(); });
  return status == Status::ok && plan_->aggregates() ? leave() : status;
}

Status SpreadOperation::run() noexcept {
  Status status = in_parts([this] { return executors::run_blocking(*run_, waiting_); });
  if (status == Status::ok && plan_->aggregates()) status = executors::run_blocking(aggregations_, waiting_);
  if (status != Status::ok) [[unlikely]]
    fail(status);
  return status;
}

void SpreadOperation::fail(Status status) noexcept {
  ground_.guard.fail(turn_, status, messages_.disagreement());
  messages_.abandon();
  if (plan_->aggregates()) aggregations_.abandon();
}

}  // namespace hocket::engine
