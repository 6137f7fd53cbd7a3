#include "engine/spread_operation.hpp"

#include "executors/blocking.hpp"

namespace hocket::engine {

using executors::Operation;

void SpreadOperation::lay(const executors::Plan& plan, const Operation& op) {
  binding_.make(plan, op);
  workspace_.fit(plan);
  workspace_.fit_scratch(binding_->scratch_bytes(binding_->extent()));
  binding_->select({0, binding_->extent()}, workspace_.scratch.data());
  machine_.make(plan, *binding_, op, executors::Transports{nullptr, &messages_}, workspace_);
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
  if (ahead_)
    lay(ahead_->plan, sizes_.gather(*ahead_, *op_));
  else
    lay(*plan_, *op_);
}

/// The data, when their sizes have come: messages of the same operation.
Status SpreadOperation::follow_up() noexcept {
  try {
    lay(*plan_, sizes_.data(*ahead_, *op_, plan_->schedule.scratch_planes));
  } catch (...) {
    return Status::no_memory;
  }
  ahead_ = nullptr;
  return Status::ok;
}

Status SpreadOperation::advance() noexcept {
  Status status = machine_->advance();
  if (status == Status::ok && ahead_) {
    status = follow_up();
    if (status == Status::ok) status = machine_->advance();
  }
  return status;
}

Status SpreadOperation::run() noexcept {
  Status status = executors::run_blocking(*machine_, waiting_);
  if (status == Status::ok && ahead_) {
    status = follow_up();
    if (status == Status::ok) status = executors::run_blocking(*machine_, waiting_);
  }
  if (status != Status::ok) [[unlikely]]
    fail(status);
  return status;
}

void SpreadOperation::fail(Status status) noexcept {
  ground_.guard.fail(turn_, status, messages_.disagreement());
  messages_.abandon();
}

}  // namespace hocket::engine
