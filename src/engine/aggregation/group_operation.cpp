#include "engine/aggregation/group_operation.hpp"

#include <span>

namespace hocket::engine::aggregation {

using executors::Aggregation;

void GroupOperation::begin(LeaderGroup& group, const transports::mpi::CallWords& call,
                           std::uint64_t patience_ns, std::size_t aggregations) {
  told_.begin(group.members().ranks(), aggregations);
  while (all_.size() < aggregations) all_.push_back(std::make_unique<Started>());
  group_ = &group;
  network_.begin(group, patience_ns);
  call_ = call;
  stage_ = Stage::queued;
  is_small_ = is_lost_ = false;
  expected_ = aggregations;
  broken_ = Status::ok;
  started_ = ended_ = repairs_ = next_repair_ = 0;
  run_ = nullptr;
  number_ = group.take_number();  // nothing fails any more: the others have taken theirs
}

Status GroupOperation::start(const Aggregation& what) noexcept {
  if (broken_ != Status::ok) return broken_;
  const std::size_t number = started_++;
  is_small_ = expected_ == 1 && what.bytes <= Relay::most_bytes && group_->members().ranks() > 1;
  try {
    all_[number]->begin(what, group_->index_of(what.root), is_small_);
  } catch (...) {
    return broken_ = Status::no_memory;
  }
  if (stage_ == Stage::network && !post(number)) give_up();
  return broken_;
}

/// False: the network has failed, or there is none.
bool GroupOperation::post(std::size_t number) noexcept {
  const Status posted = network_.post(*all_[number], is_small_);
  if (posted == Status::ok) count_end(number);
  return posted == Status::ok || posted == Status::pending;
}

void GroupOperation::count_end(std::size_t number) noexcept {
  told_.mark_ended(number);
  ++ended_;
}

/// Looks at what has been posted, the oldest first.
void GroupOperation::look_at_network() noexcept {
  bool is_any_pending = false;
  const std::size_t ended_before = ended_;
  for (std::size_t number = 0; number < started_; ++number) {
    if (!all_[number]->is_pending) continue;
    const Status status = network_.look(*all_[number]);
    is_any_pending |= status == Status::pending;
    if (status == Status::ok) count_end(number);
    if (status != Status::ok && status != Status::pending) return give_up();
  }
  if (network_.is_out_of_patience(is_any_pending, ended_ != ended_before)) give_up();
}

/// What has ended meanwhile stays ended: its result is here, and may be handed on.
void GroupOperation::give_up() noexcept {
  network_.lose(std::span(all_).first(started_));
  told_.mark_lost();
  begin_to_end();
}

void GroupOperation::begin_to_end() noexcept {
  stage_ = Stage::ending;
  if (is_small_) {
    const bool is_here = told_.has_ended_here(0);
    return group_->relay().begin(number_, all_.front()->result(is_here), is_here);
  }
  try {
    run_ = &told_.tell(group_->members());
  } catch (...) {
    broken_ = Status::no_memory;
  }
}

Status GroupOperation::pass_on() noexcept {
  Relay& relay = group_->relay();
  if (const Status status = relay.advance(); status != Status::ok) return status;
  is_lost_ = relay.outcome() == Relay::Outcome::nobody_has_it;
  stage_ = is_lost_ ? Stage::messages : Stage::is_over;
  if (!is_lost_) return Status::ok;
  try {
    told_.assume_nothing();
    return Status::ok;
  } catch (...) {
    return broken_ = Status::no_memory;
  }
}

Status GroupOperation::tell() noexcept {
  if (const Status status = run_->advance(); status != Status::ok) return status;
  run_ = nullptr;
  is_lost_ = told_.is_lost_anywhere();
  stage_ = Stage::messages;
  return Status::ok;
}

Status GroupOperation::take_turn() noexcept {
  if (stage_ == Stage::queued) {
    if (!group_->is_turn_of(number_)) return Status::pending;
    group_->enter(call_);
    stage_ = Stage::joining;
  }
  if (const Status status = group_->join(); status != Status::ok) return status;
  stage_ = Stage::network;
  post_all();
  return Status::ok;
}

/// Those that came before its turn.
void GroupOperation::post_all() noexcept {
  for (std::size_t number = 0; number < started_; ++number)
    if (!post(number)) return give_up();
}

Status GroupOperation::go_on() noexcept {
  if (broken_ != Status::ok) return broken_;
  if (stage_ < Stage::network)
    if (const Status status = take_turn(); status != Status::ok) return status;
  if (stage_ == Stage::network) look_at_network();
  if (broken_ != Status::ok) return broken_;
  if (stage_ == Stage::ending)
    if (const Status status = is_small_ ? pass_on() : tell(); status != Status::ok) return status;
  return stage_ == Stage::messages ? repair_all() : Status::ok;
}

/// In the order of their numbers, on all members: one that has what it wants serves those who do not.
Status GroupOperation::repair_all() noexcept {
  try {
    for (; next_repair_ < started_; ++next_repair_) {
      const Started& next = *all_[next_repair_];
      if (!run_) run_ = repair_.lay(group_->members(), next.what, next.root, told_, next_repair_);
      if (!run_) continue;
      if (const Status status = run_->advance(); status != Status::ok) return status;
      run_ = nullptr;
      ++repairs_;
    }
    return Status::ok;
  } catch (...) {
    return broken_ = Status::no_memory;
  }
}

bool GroupOperation::is_repaired() const noexcept {
  return repairs_ != 0 || (is_small_ && !told_.has_ended_here(0));
}

Status GroupOperation::settle(std::uint32_t step) noexcept {
  if (const Status status = go_on(); status != Status::ok && status != Status::pending) return status;
  std::size_t number = 0;
  while (number < started_ && all_[number]->what.step != step) ++number;
  const bool has_ended = stage_ == Stage::messages ? number < next_repair_
                                                   : stage_ == Stage::is_over ||
                                                         (number < started_ && told_.has_ended_here(number));
  return has_ended ? Status::ok : Status::pending;
}

Status GroupOperation::finish() noexcept {
  if (const Status status = go_on(); status != Status::ok) return status;
  if (stage_ == Stage::network && started_ != 0) {
    if (ended_ != started_) return Status::pending;
    begin_to_end();
    if (const Status status = go_on(); status != Status::ok) return status;
  }
  group_->leave(is_lost_ || repairs_ != 0, is_repaired());
  return Status::ok;
}

/// The communicator has failed with it: no turn comes after this one.
void GroupOperation::abandon() noexcept {
  if (stage_ == Stage::queued) return;
  if (group_->network()) group_->lose("its call has failed");
  group_->members().messages().abandon();
  group_->relay().abandon();
  group_->leave(false, false);
}

bool GroupOperation::is_pending() const noexcept {
  switch (stage_) {
    case Stage::network:
      return ended_ != started_;
    case Stage::messages:
      return next_repair_ != started_;
    case Stage::is_over:
      return false;
    default:
      return true;
  }
}

transports::Blocker GroupOperation::blocker() const noexcept {
  if (stage_ == Stage::network) return network_.blocker();
  if (stage_ == Stage::ending && is_small_) return named(group_->relay().blocker());
  const executors::Machine* const run = stage_ == Stage::joining ? group_->joining_run() : run_;
  return run ? named(run->blocker()) : transports::Blocker{};
}

transports::Blocker GroupOperation::named(transports::Blocker blocker) const noexcept {
  if (blocker.peer != transports::nobody) blocker.peer = group_->name_of(blocker.peer);
  return blocker;
}

}  // namespace hocket::engine::aggregation
