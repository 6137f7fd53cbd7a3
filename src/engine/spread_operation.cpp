#include "engine/spread_operation.hpp"

#include "executors/blocking.hpp"

namespace hocket::engine {

using executors::Operation;

void SpreadOperation::prepare(const Path& path, const Call& call, const SpreadGuard::Turn& turn,
                              std::uint32_t signature) {
  const executors::Plan& plan = *path.plan;
  turn_ = turn;
  long_wait_ = {};
  call_ = call;
  const Operation* op = &call_;
  if (call.in_place && path.copies_input)
    op = &input_copy_.of(call_, static_cast<Rank>(ground_.members.size()));
  binding_.make(plan, *op);
  workspace_.fit(plan);
  workspace_.fit_scratch(binding_->scratch_bytes(binding_->extent()));
  binding_->select({0, binding_->extent()}, workspace_.scratch.data());
  messages_.begin(turn.number, signature, words_of(turn.mark));
  machine_.make(plan, *binding_, *op, executors::Transports{nullptr, &messages_}, workspace_);
}

Status SpreadOperation::run() noexcept {
  const Status status = executors::run_blocking(*machine_, waiting_);
  if (status != Status::ok) [[unlikely]]
    fail(status);
  return status;
}

void SpreadOperation::fail(Status status) noexcept {
  ground_.guard.fail(turn_, status, messages_.disagreement());
  messages_.abandon();
}

}  // namespace hocket::engine
