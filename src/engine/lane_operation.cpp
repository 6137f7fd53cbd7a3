#include "engine/lane_operation.hpp"

#include <algorithm>

namespace hocket::engine {

using executors::Binding;
using executors::Machine;
using transports::Blocker;
using transports::shm::Lane;

void LaneOperation::prepare(const Prepared& prepared, const Call& call) {
  path_ = &prepared.path;
  signature_ = prepared.signature;
  call_ = call;
  op_ = &call_;
  segment_ = 0;
  stage_ = Stage::waiting_for_memory;
  tickets_.clear();
  if (call.in_place && path_->copies_input) op_ = &input_copy_.of(call_, lane_.lane_.channel().ranks());
  binding_.emplace(*path_->plan, *op_);
  workspace_.fit(*path_->plan);
  take_tickets();
  workspace_.fit_scratch(binding_->scratch_bytes(segment_bytes_));
}

/// All instances of its segments now: the next operation's number follows from what all ranks know.
void LaneOperation::take_tickets() {
  Lane& lane = lane_.lane_;
  const std::size_t extent = binding_->extent();
  if (path_->plan->staging_chunks == 0) {
    segment_bytes_ = extent;
    if (is_stream()) stream_turn_ = lane_.streams_taken_++;
    tickets_.push_back(lane.take(signature_, 0));
    return;
  }
  segment_bytes_ = std::min(extent, binding_->longest_segment(Lane::staging_area_bytes));
  const std::size_t segments = segment_bytes_ == 0 ? 1 : (extent + segment_bytes_ - 1) / segment_bytes_;
  for (std::size_t i = 0; i < segments; ++i) tickets_.push_back(lane.take_staging(signature_));
}

Status LaneOperation::advance() noexcept {
  for (;;) {
    if (stage_ == Stage::waiting_for_memory) {
      if (!may_begin()) return Status::pending;
      begin_segment();
    }
    if (const Status s = machine_->advance(); s != Status::ok) return s;
    if (!end_segment()) return Status::ok;
  }
}

bool LaneOperation::may_begin() noexcept {
  if (!lane_.lane_.is_free(tickets_[segment_])) return false;
  return !is_stream() || lane_.streams_left_ == stream_turn_;
}

void LaneOperation::begin_segment() noexcept {
  stage_ = Stage::running;
  const Ticket& ticket = tickets_[segment_];
  staging_.use(lane_.staging_memory_.memory);
  staging_.enter(ticket);
  if (is_stream()) lane_.cells_->sign(ticket.instance.signature());
  const std::size_t first = segment_ * segment_bytes_;
  binding_->select({first, std::min(segment_bytes_, binding_->extent() - first)}, workspace_.scratch.data());
  machine_.emplace(*path_->plan, *binding_, *op_, executors::Transports{&staging_, lane_.cells_.get()},
                   workspace_);
}

/// True: another one follows.
bool LaneOperation::end_segment() noexcept {
  lane_.lane_.leave(tickets_[segment_].instance.number());
  if (is_stream()) ++lane_.streams_left_;
  stage_ = Stage::waiting_for_memory;
  return ++segment_ < tickets_.size();
}

Blocker LaneOperation::blocker() noexcept {
  if (stage_ == Stage::waiting_for_memory) return lane_.lane_.until_free(tickets_[segment_]);
  return machine_->blocker();
}

const transports::Waiting& LaneOperation::waiting() const noexcept {
  return lane_.lane_.channel().waiting();
}

Outstanding::Needs LaneOperation::needs() const noexcept {
  return has_own_operation(call_) ? Needs::program : Needs::nothing;
}

void LaneOperation::fail(Status status) noexcept {
  lane_.guard_.fail(tickets_[segment_ < tickets_.size() ? segment_ : 0].instance.number(), status);
}

void LaneOperation::release() noexcept {
  lane_.operations_.give_back(*this);
}

}  // namespace hocket::engine
