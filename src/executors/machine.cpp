#include "executors/machine.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "kernels/copy.hpp"

namespace hocket::executors {

using ir::Buffer;
using ir::Op;
using ir::OpCode;
using ir::Region;
using transports::Blocker;
using transports::Piece;
using transports::Transfer;

namespace {

bool has_ended(const Transfer& t) noexcept {
  return t.started && t.done == t.total;
}

}  // namespace

Status Machine::advance() noexcept {
  const ir::Schedule& s = plan_.schedule;
  if (transfers_ != 0) via_.two_sided->take_in();
  if (aggregations_ != 0) via_.aggregator->go_on();
  for (; round_ < s.rounds.size(); ++round_) {
    for (; pc_ < s.rounds[round_]; ++pc_, ++progress_)
      if (const Status done = step(s.ops[pc_]); done != Status::ok) return done;
    if (const Status done = finish_round(); done != Status::ok) return done;
    transfers_ = pieces_ = received_ = 0;
    if (via_.aggregator) via_.aggregator->end_round();
  }
  return Status::ok;
}

Status Machine::step(const Op& op) noexcept {
  switch (op.code) {
    case OpCode::read:
      if (plan_.schedule.regions_of(op)[0].buffer != Buffer::staging) return read_exposed(op);
      [[fallthrough]];
    case OpCode::copy:
      copy(op);
      return Status::ok;
    case OpCode::reduce:
      reduce(op);
      return Status::ok;
    case OpCode::signal:
      via_.one_sided->signal(op.step);
      return Status::ok;
    case OpCode::wait:
      return wait(op);
    case OpCode::send:
    case OpCode::recv:
      start_transfer(op);
      return Status::ok;
    case OpCode::aggregate:
      return aggregate(op);
    case OpCode::settle:
      settle(op);
      return Status::ok;
    case OpCode::expose:
      via_.one_sided->expose(op.target.buffer == Buffer::output, binding_.exposed_base(op.target));
      return Status::ok;
  }
  return Status::failed;
}

Status Machine::wait(const Op& op) noexcept {
  if (op.peer != ir::everyone) return via_.one_sided->reached(op.peer, op.step);
  for (; seen_ < plan_.schedule.ranks; ++seen_, ++progress_) {
    if (seen_ == plan_.schedule.rank) continue;
    if (const Status s = via_.one_sided->reached(seen_, op.step); s != Status::ok) return s;
  }
  seen_ = 0;
  via_.one_sided->everyone_reached();
  return Status::ok;
}

Blocker Machine::blocker() const noexcept {
  const ir::Schedule& s = plan_.schedule;
  if (pc_ < s.rounds[round_]) {
    const Op& op = s.ops[pc_];
    if (op.code == OpCode::aggregate) return via_.aggregator->blocker();
    return via_.one_sided->blocker(op.peer == ir::everyone ? seen_ : op.peer);
  }
  if (!settles()) return transfers_blocker();
  // No descriptor tells of messages beside it.
  const auto transfers = std::span(space_.transfers).first(transfers_);
  const bool are_pending = !std::ranges::all_of(transfers, has_ended);
  return are_pending ? Blocker{.peer = transfers_blocker().peer} : via_.aggregator->blocker();
}

/// The first that is pending; but one that nothing in memory shows has to be asked about, whatever else may
/// come.
Blocker Machine::transfers_blocker() const noexcept {
  Blocker first;
  for (std::uint32_t i = 0; i < transfers_; ++i) {
    const Transfer& t = space_.transfers[i];
    if (has_ended(t) || is_held(i)) continue;
    const Blocker blocker =
        space_.is_send[i] ? via_.two_sided->send_blocker(t) : via_.two_sided->recv_blocker(t);
    if (!blocker.word) return blocker;
    if (!first.word) first = blocker;
  }
  return first;
}

Piece Machine::target(const Region& region, std::uint32_t chunk) const noexcept {
  if (region.buffer != Buffer::staging) return binding_.own(region.buffer, chunk);
  const std::size_t offset = binding_.staging_offset(plan_.schedule.rank, chunk);
  return {via_.one_sided->own_staging() + offset, binding_.bytes(Buffer::staging, chunk)};
}

const std::byte* Machine::source(const Region& region, std::uint32_t chunk) const noexcept {
  const bool own = region.owner == ir::self || region.owner == plan_.schedule.rank;
  if (own) return target(region, chunk).data;
  return via_.one_sided->staging_of(region.owner) + binding_.staging_offset(region.owner, chunk);
}

void Machine::copy(const Op& op) noexcept {
  const Region& from = plan_.schedule.regions_of(op)[0];
  for (std::uint32_t i = 0; i < op.target.count; ++i) {
    const Piece to = target(op.target, op.target.first + i);
    const std::byte* data = source(from, from.first + i);
    if (to.bytes != 0 && to.data != data) kernels::copy(to.data, data, to.bytes);
  }
}

Status Machine::read_exposed(const Op& op) noexcept {
  const Region& from = plan_.schedule.regions_of(op)[0];
  for (std::uint32_t i = 0; i < op.target.count; ++i) {
    const Piece to = target(op.target, op.target.first + i);
    if (to.bytes == 0) continue;
    const auto offset = static_cast<std::ptrdiff_t>(binding_.exposed_offset(from.first + i));
    const Status s = via_.one_sided->read_exposed(from.owner, from.buffer == Buffer::output, offset, to);
    if (s != Status::ok) return s;
  }
  return Status::ok;
}

void Machine::reduce(const Op& op) noexcept {
  const auto regions = plan_.schedule.regions_of(op);
  for (std::uint32_t i = 0; i < op.target.count; ++i) {
    const Piece to = target(op.target, op.target.first + i);
    if (to.bytes == 0) continue;
    for (std::uint32_t r = 0; r < op.regions; ++r)
      space_.sources[r] = source(regions[r], regions[r].first + i);
    op_.reduction(to.data, space_.sources.data(), static_cast<int>(op.regions),
                  to.bytes / binding_.element_bytes());
  }
}

void Machine::start_transfer(const Op& op) noexcept {
  Transfer& t = space_.transfers[transfers_];
  space_.held[transfers_] = op.held;
  space_.is_send[transfers_++] = op.code == OpCode::send;
  const std::uint32_t first = pieces_;
  t = Transfer{};
  t.peer = op.peer;
  for (const Region& region : plan_.schedule.regions_of(op))
    for (std::uint32_t i = 0; i < region.count; ++i) {
      const Piece piece = target(region, region.first + i);
      t.total += piece.bytes;
      space_.pieces[pieces_++] = piece;
    }
  t.pieces = {space_.pieces.data() + first, pieces_ - first};
  // Both ends know the size of a block: an empty one needs no message. An empty vector's messages stay, since
  // a barrier is made of them.
  if (t.total != 0 || !ir::is_blocks(op_.collective) || op_.tells_of_empty_blocks) return;
  --transfers_;
  if (op.code == OpCode::recv) ++received_;
}

/// Transfers and aggregations go on side by side.
Status Machine::finish_round() noexcept {
  const Status transferred = finish_transfers();
  if (transferred != Status::ok && transferred != Status::pending) return transferred;
  const Status aggregated = finish_aggregations();
  return aggregated == Status::ok ? transferred : aggregated;
}

Status Machine::finish_transfers() noexcept {
  bool all = true;
  for (std::uint32_t i = 0; i < transfers_; ++i) {
    Transfer& t = space_.transfers[i];
    if (has_ended(t)) continue;
    if (is_held(i)) {
      all = false;
      continue;
    }
    const std::size_t before = t.done;
    const bool had_begun = t.state != 0;
    const Status s = space_.is_send[i] ? via_.two_sided->advance_send(t) : via_.two_sided->advance_recv(t);
    if (s != Status::ok && s != Status::pending) return s;
    progress_ += t.done - before;
    if (!had_begun && t.state != 0) ++progress_;  // who waits for it may be asked already in this turn
    all = all && s == Status::ok;
    if (s != Status::ok) continue;
    ++progress_;  // also of one without bytes: its end may let a send go
    if (!space_.is_send[i]) ++received_;
  }
  return all ? Status::ok : Status::pending;
}

}  // namespace hocket::executors
