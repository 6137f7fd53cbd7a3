#include "engine/node_communicator.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "engine/call_kind.hpp"
#include "engine/function_table.hpp"
#include "engine/wait_mode.hpp"

namespace hocket::engine {

NodeCommunicator::NodeCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members,
                                   Rank rank, std::byte* lines)
    : engine_(engine),
      key_(key),
      members_(members.begin(), members.end()),
      guard_(engine, members_, transports::shm::header_in(lines)),
      channel_(lines, static_cast<Rank>(members.size()), rank, waiting_of(engine, guard_)),
      single_copy_(engine, members_, channel_),
      runner_(*engine.arena(), key, channel_, single_copy_),
      size_samples_(channel_),
      rows_(engine.report()),
      prepared_(engine.report()),
      timed_(!engine.options().report.empty()) {
  guard_.watch(channel_);
}

NodeCommunicator::~NodeCommunicator() {
  engine_.arena()->release(key_);
}

Outcome NodeCommunicator::carry_out(const Call& call) noexcept {
  return follow(*turn_.path, call);
}

inline const Path& NodeCommunicator::take_turn(Decision& decision) noexcept {
  turn_.trial = nullptr;
  const Path& path = decision.trial ? choose_tried(decision) : decision.path;
  turn_.path = &path;
  turn_.signature = decision.signature;
  turn_.timed = timed_ || turn_.trial;
  if (turn_.timed) [[unlikely]]
    turn_.started_ns = monotonic_ns();
  turn_.mark = CallMark::of(decision.kind, path.is_native());
  turn_.first_instance = channel_.instance() + 1;
  leave_mark(channel_, turn_.first_instance, turn_.mark);
  return path;
}

const Path& NodeCommunicator::choose_tried(Decision& decision) noexcept {
  Trial& trial = *decision.trial;
  const std::uint32_t judged_before = trial.judged();
  turn_.tried = trial.next_path(channel_);
  if (trial.judged() != judged_before) ++found_out_;
  const Path& path = decision.tried[turn_.tried];
  if (trial.is_trying()) turn_.trial = &trial;
  if (trial.is_decided()) {
    decision.path = path;
    decision.trial = nullptr;
  }
  return path;
}

inline Outcome NodeCommunicator::leave_to_mpi(const Path& path, const Call& call) noexcept {
  channel_.skip();
  path.row->count(call.agreed_bytes);
  return turn_.timed ? Outcome::native_timed : Outcome::native;
}

inline Outcome NodeCommunicator::follow(const Path& path, const Call& call) noexcept {
  const Status status = runner_.run(path, call, turn_.signature, turn_.mark);
  if (status != Status::ok) [[unlikely]] {
    report_failure(status);
    return Outcome::error;
  }
  path.row->count(call.agreed_bytes);
  return turn_.timed ? Outcome::done_timed : Outcome::done;
}

void NodeCommunicator::ended() noexcept {
  const std::uint64_t ns = monotonic_ns() - turn_.started_ns;
  if (turn_.trial) turn_.trial->note(channel_, turn_.tried, ns);
  if (timed_) turn_.path->row->count_time(static_cast<double>(ns) * 1e-9);
}

void NodeCommunicator::report_failure(Status status) noexcept {
  const std::uint32_t call = std::max(channel_.instance(), turn_.first_instance);
  try {
    const auto& disagreement = runner_.disagreement();
    if (status == Status::mismatch && disagreement)
      return guard_.fail(call, status, disagreement->text(channel_.rank()));
    const auto failure = runner_.read_failure();
    if (status != Status::failed || !failure) return guard_.fail(call, status);
    SingleCopy::report(*failure, guard_, call);
  } catch (...) {  // no memory for the explanation
    guard_.fail(call, status);
  }
}

void NodeCommunicator::mark_native(Function function) noexcept {
  leave_mark(channel_, channel_.instance() + 1, {function, 0, true, -1, 0});
  channel_.skip();
}

Starts& NodeCommunicator::starts_of(const Prepared& prepared) {
  if (prepared.own_starts) return *prepared.own_starts;
  if (prepared.path.handed) return *handed_;
  return *lane_;
}

Outstanding* NodeCommunicator::start(Prepared& prepared, const Call& call) noexcept {
  if (guard_.failed()) [[unlikely]]
    return nullptr;
  if (!prepared.has_choice()) prepared.path.row->count(call.agreed_bytes);
  return starts_of(prepared).start(prepared, call);
}

template class DecidingCommunicator<NodeCommunicator>;

}  // namespace hocket::engine
