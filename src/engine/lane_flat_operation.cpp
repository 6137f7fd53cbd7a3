#include "engine/lane_flat_operation.hpp"

#include "engine/compiled/flat.hpp"

namespace hocket::engine {

using transports::Blocker;
using transports::shm::Channel;

namespace {

/// What has to lie beside the flag line; the same on all ranks.
std::size_t payload_bytes(const Path& path) noexcept {
  return path.published > transports::shm::inline_bytes ? path.published : 0;
}

}  // namespace

LaneFlatOperation::LaneFlatOperation(NonblockingLane& lane, std::size_t place)
    : lane_(lane), place_(place), sources_(static_cast<std::size_t>(lane.lane_.channel().ranks())) {}

void LaneFlatOperation::prepare(const Prepared& prepared, const Call& call) noexcept {
  path_ = &prepared.path;
  signature_ = prepared.signature;
  call_ = &call;
  mark_ = CallMark::of(prepared.kind);
  take_ticket();
}

void LaneFlatOperation::take_ticket() noexcept {
  published_ = false;
  ticket_ = lane_.lane_.take(signature_, payload_bytes(*path_));
}

bool LaneFlatOperation::repeat() noexcept {
  if (lane_.guard_.failed()) return false;
  path_->row->count(call_->agreed_bytes);
  take_ticket();
  leave_mark(lane_.lane_.channel(), ticket_.instance.number(), mark_);
  publish();
  return true;
}

Status LaneFlatOperation::advance() noexcept {
  if (!published_ && !publish()) return Status::pending;
  const Status status = path_->flat->take(flat_call());
  if (status == Status::ok) lane_.lane_.leave(ticket_.instance.number());
  return status;
}

/// False: earlier operations still use its memory on some rank.
bool LaneFlatOperation::publish() noexcept {
  if (!lane_.lane_.is_free(ticket_)) return false;
  path_->flat->publish(flat_call());
  Channel& channel = lane_.lane_.channel();
  const std::uint32_t ahead = ticket_.instance.number() + Channel::lines_owned_ahead;
  transports::shm::own_soon(&channel.own_area().lines[ahead % transports::shm::ring]);
  return published_ = true;
}

compiled::StartedFlatCall LaneFlatOperation::flat_call() noexcept {
  return {ticket_.instance, *call_, signature_, path_->published, sources_.data()};
}

Blocker LaneFlatOperation::blocker() noexcept {
  if (!published_) return lane_.lane_.until_free(ticket_);
  const bool from_root =
      call_->collective == ir::Collective::bcast || call_->collective == ir::Collective::scatter;
  return from_root ? ticket_.instance.until_arrived(call_->root) : ticket_.instance.until_another_arrives();
}

const transports::Waiting& LaneFlatOperation::waiting() const noexcept {
  return lane_.lane_.channel().waiting();
}

Outstanding::Needs LaneFlatOperation::needs() const noexcept {
  return has_own_operation(*call_) ? Needs::program : Needs::nothing;
}

void LaneFlatOperation::fail(Status status) noexcept {
  lane_.guard_.fail(ticket_.instance.number(), status);
}

void LaneFlatOperation::release() noexcept {
  lane_.flat_operations_.give_back(*this);
}

}  // namespace hocket::engine
