#include "engine/lane_operation.hpp"

#include <algorithm>

namespace hocket::engine {

using transports::Blocker;
using transports::shm::Lane;

LaneOperation::LaneOperation(NonblockingLane& lane, std::size_t place)
    : lane_(lane), place_(place), exposed_(staging_, lane.peers_) {}

void LaneOperation::prepare(const Prepared& prepared, const Call& call) {
  single_copy_ = prepared.has_choice() ? &prepared.single_copy : nullptr;
  signature_ = prepared.signature;
  call_ = call;
  segment_ = 0;
  unused_ = 0;
  stage_ = has_choice() ? Stage::waiting_for_line : Stage::waiting_for_memory;
  tickets_.clear();
  const bool copies = prepared.path.copies_input || (has_choice() && single_copy_->copies_input);
  if (call.in_place && copies) copied_ = &input_copy_.of(call_, lane_.lane_.channel().ranks());
  if (has_choice()) fit(*single_copy_);
  fit(prepared.path);
  take_tickets();
  workspace_.fit_scratch(binding_->scratch_bytes(segment_bytes_));
}

/// Follows the path, with scratch for its whole extent where it is not staged.
void LaneOperation::fit(const Path& path) {
  workspace_.fit(*path.plan);
  follow(path);
  if (path.plan->single_copy) workspace_.fit_scratch(binding_->scratch_bytes(binding_->extent()));
}

const executors::Operation& LaneOperation::operation_for(const Path& path) noexcept {
  if (call_.in_place && path.copies_input) return *copied_;
  return call_;
}

void LaneOperation::follow(const Path& path) noexcept {
  path_ = &path;
  op_ = &operation_for(path);
  binding_.make(*path.plan, *op_);
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
  if (has_choice() && !(arrive() && choose())) return Status::pending;
  for (;;) {
    if (stage_ == Stage::waiting_for_memory) {
      if (!may_begin()) return Status::pending;
      begin_segment();
    }
    if (const Status s = machine_->advance(); s != Status::ok) return s;
    if (!end_segment()) return Status::ok;
  }
}

/// False: the line is not free yet.
bool LaneOperation::arrive() noexcept {
  if (stage_ != Stage::waiting_for_line) return true;
  const Ticket ticket = Lane::without_staging(tickets_[0]);
  if (!lane_.lane_.is_free(ticket)) return false;
  lane_.votes_.give_before(ticket.instance.number());
  staging_.enter(ticket);
  stage_ = Stage::choosing;
  return true;
}

/// False: the choice is not known yet.
bool LaneOperation::choose() noexcept {
  const auto gain = lane_.votes_.gain_in(tickets_[0].instance);
  if (!gain) return false;
  stage_ = Stage::waiting_for_memory;
  if (SingleCopy::suffices_on_lane(*gain,
                                   {call_.collective, lane_.lane_.channel().ranks(), call_.agreed_bytes}))
    read_peers();
  single_copy_ = nullptr;
  path_->row->count(call_.agreed_bytes);
  return true;
}

/// One instance is enough, and no staging.
void LaneOperation::read_peers() noexcept {
  follow(*single_copy_);
  unused_ = static_cast<std::uint32_t>(tickets_.size()) - 1;
  tickets_.resize(1, tickets_[0]);
  tickets_[0] = Lane::without_staging(tickets_[0]);
  segment_bytes_ = binding_->extent();
}

bool LaneOperation::has_turn() const noexcept {
  return !is_stream() || lane_.streams_left_ == stream_turn_;
}

bool LaneOperation::may_begin() noexcept {
  return lane_.lane_.is_free(tickets_[segment_]) && has_turn();
}

void LaneOperation::begin_segment() noexcept {
  stage_ = Stage::running;
  const Ticket& ticket = tickets_[segment_];
  staging_.use(lane_.staging_memory_.memory());
  staging_.enter(ticket);
  if (is_stream()) lane_.cells_->sign(ticket.instance.signature());
  const std::size_t first = segment_ * segment_bytes_;
  binding_->select({first, std::min(segment_bytes_, binding_->extent() - first)}, workspace_.scratch());
  transports::OneSided* via = &staging_;
  if (path_->plan->single_copy) via = &exposed_;
  machine_.make(*path_->plan, *binding_, *op_, executors::Transports{via, lane_.cells_.get()}, workspace_);
}

/// True: another one follows.
bool LaneOperation::end_segment() noexcept {
  lane_.lane_.leave(tickets_[segment_].instance.number(), 1 + unused_);
  if (is_stream()) ++lane_.streams_left_;
  stage_ = Stage::waiting_for_memory;
  return ++segment_ < tickets_.size();
}

Blocker LaneOperation::blocker() noexcept {
  switch (stage_) {
    case Stage::waiting_for_line:
      return lane_.lane_.until_free(Lane::without_staging(tickets_[0]));
    case Stage::choosing:
      return tickets_[0].instance.until_another_arrives();
    case Stage::waiting_for_memory:
      if (!has_turn()) return {};
      return lane_.lane_.until_free(tickets_[segment_]);
    case Stage::running:
      return machine_->blocker();
  }
  return {};
}

/// Of its segment: one that ends goes on with the next.
std::size_t LaneOperation::progress() const noexcept {
  return stage_ == Stage::running ? machine_->progress() : 0;
}

const transports::Waiting& LaneOperation::waiting() const noexcept {
  return lane_.lane_.channel().waiting();
}

Outstanding::Needs LaneOperation::needs() const noexcept {
  return has_own_operation(call_) ? Needs::program : Needs::nothing;
}

void LaneOperation::fail(Status status) noexcept {
  const std::uint32_t number = tickets_[segment_ < tickets_.size() ? segment_ : 0].instance.number();
  if (status == Status::failed && lane_.peers_.failure().error != 0)
    SingleCopy::report(lane_.peers_.failure(), lane_.guard_, number);
  else
    lane_.guard_.fail(number, status);
}

void LaneOperation::release() noexcept {
  lane_.operations_.give_back(*this);
}

}  // namespace hocket::engine
