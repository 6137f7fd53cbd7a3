#include "engine/aggregation/group_operation.hpp"

#include <cstring>

#include "base/clock.hpp"
#include "engine/aggregation/reductions.hpp"

namespace hocket::engine::aggregation {

using executors::Aggregation;

void GroupOperation::begin(LeaderGroup& group, const transports::mpi::CallWords& call,
                           std::uint64_t patience_ns, std::size_t aggregations) {
  told_.begin(group.members().ranks(), aggregations);
  while (all_.size() < aggregations) all_.push_back(std::make_unique<Started>());
  group_ = &group;
  call_ = call;
  patience_ns_ = patience_ns;
  waits_since_ns_ = 0;
  stage_ = Stage::queued;
  is_small_ = relays_ = is_lost_ = is_repaired_ = false;
  expected_ = aggregations;
  broken_ = Status::ok;
  started_ = ended_ = repairs_ = next_repair_ = 0;
  run_ = nullptr;
  number_ = group.take_number();  // nothing fails any more: the others have taken theirs
}

const std::byte* GroupOperation::kept_source(Started& started) {
  const Aggregation& what = started.what;
  if (!what.source || what.source != what.target || what.kind == ir::Collective::bcast) return what.source;
  started.kept.resize(what.bytes);
  std::memcpy(started.kept.data(), what.source, what.bytes);
  return started.kept.data();
}

Status GroupOperation::start(const Aggregation& what) noexcept {
  if (broken_ != Status::ok) return broken_;
  const std::size_t number = started_++;
  Started& started = *all_[number];
  started.what = what;
  started.root = group_->index_of(what.root);
  started.is_pending = false;
  is_small_ = expected_ == 1 && what.bytes <= Relay::most_bytes && group_->members().ranks() > 1;
  try {
    started.what.source = kept_source(started);
    if (is_small_ && !what.target) started.unwanted.resize(what.bytes);
  } catch (...) {
    return broken_ = Status::no_memory;
  }
  if (stage_ == Stage::network && !post(number)) give_up();
  return broken_;
}

/// False: the network has failed, or there is none.
bool GroupOperation::post(std::size_t number) noexcept {
  offload::Group* const network = group_->network();
  Started& started = *all_[number];
  const Aggregation& what = started.what;
  const auto kind = kind_of(what.kind);
  if (!network || !kind) return false;
  offload::Aggregation offloaded;
  offloaded.kind = *kind;
  offloaded.root = static_cast<int>(started.root < 0 ? 0 : started.root);
  offloaded.source = what.source;
  offloaded.target = what.target;
  offloaded.bytes = what.bytes;
  if (is_small_ && what.kind == ir::Collective::reduce) {  // so that all have what one of them may lack
    offloaded.kind = offload::Kind::allreduce;
    offloaded.target = small_result().data();
  }
  if (what.reduction) {
    offloaded.type = type_of(what.reduction->element_type);
    offloaded.op = op_of(what.reduction->operation);
  }
  const Status posted = network->post(offloaded, started.request);
  started.is_pending = posted == Status::pending;
  if (posted == Status::ok) {
    told_.mark_ended(number);
    ++ended_;
  }
  return posted == Status::ok || posted == Status::pending;
}

/// Looks at what has been posted, the oldest first.
void GroupOperation::look_at_network() noexcept {
  bool any_pending = false;
  const std::size_t ended_before = ended_;
  for (std::size_t i = 0; i < started_; ++i) {
    Started& started = *all_[i];
    if (!started.is_pending) continue;
    const Status status = group_->network()->test(started.request);
    if (status == Status::pending) {
      any_pending = true;
      continue;
    }
    started.is_pending = false;
    if (status != Status::ok) return give_up();
    told_.mark_ended(i);
    ++ended_;
  }
  if (!any_pending || ended_ != ended_before) waits_since_ns_ = 0;
  if (any_pending && is_out_of_patience()) give_up();
}

bool GroupOperation::is_out_of_patience() noexcept {
  if (patience_ns_ == 0) return false;
  const std::uint64_t now = monotonic_ns();
  if (waits_since_ns_ == 0) waits_since_ns_ = now;
  return now - waits_since_ns_ > patience_ns_;
}

/// What has ended meanwhile stays ended: its result is here, and may be handed on.
void GroupOperation::give_up() noexcept {
  if (offload::Group* const network = group_->network()) {
    for (std::size_t i = 0; i < started_; ++i) all_[i]->is_pending = false;
    try {
      group_->lose(network->is_broken() ? network->words() : "it does not answer");
    } catch (...) {
      group_->lose("");
    }
  }
  if (is_small_) return begin_relay();
  told_.mark_lost();
  tell();
}

/// Where it is, or has to come to. A root's broadcast data are only read: it hears them elsewhere.
std::span<std::byte> GroupOperation::small_result() noexcept {
  Started& started = *all_.front();
  const Aggregation& what = started.what;
  if (what.target) return {what.target, what.bytes};
  if (what.kind == ir::Collective::bcast && told_.has_ended_here(0))
    return {const_cast<std::byte*>(what.source), what.bytes};
  return {started.unwanted.data(), what.bytes};
}

void GroupOperation::begin_relay() noexcept {
  stage_ = Stage::relaying;
  relays_ = false;
}

Status GroupOperation::relay() noexcept {
  Relay& relay = group_->relay();
  if (!relays_) {
    if (const Status status = relay.take_in_last(); status != Status::ok) return status;
    const bool has = told_.has_ended_here(0);
    is_repaired_ = !has;
    relay.begin(number_, small_result(), has);
    relays_ = true;
  }
  if (const Status status = relay.advance(); status != Status::ok) return status;
  if (relay.outcome() == Relay::Outcome::result) {
    stage_ = Stage::is_over;
    return Status::ok;
  }
  try {
    told_.assume_nothing();
  } catch (...) {
    return broken_ = Status::no_memory;
  }
  is_lost_ = true;
  stage_ = Stage::messages;
  return Status::ok;
}

void GroupOperation::tell() noexcept {
  stage_ = Stage::telling;
  try {
    run_ = &told_.tell(group_->members());
  } catch (...) {
    broken_ = Status::no_memory;
  }
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
  if (stage_ == Stage::relaying)
    if (const Status status = relay(); status != Status::ok) return status;
  if (stage_ == Stage::telling) {
    if (const Status status = run_->advance(); status != Status::ok) return status;
    run_ = nullptr;
    is_lost_ = told_.is_lost_anywhere();
    stage_ = Stage::messages;
  }
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
    is_small_ ? begin_relay() : tell();
    if (const Status status = go_on(); status != Status::ok) return status;
  }
  group_->leave(is_lost_ || repairs_ != 0, is_repaired_ || repairs_ != 0);
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

transports::Blocker GroupOperation::blocker() const noexcept {
  if (stage_ == Stage::relaying) return named(group_->relay().blocker());
  const executors::Machine* const run = stage_ == Stage::joining ? group_->joining_run() : run_;
  return run ? named(run->blocker()) : transports::Blocker{};
}

transports::Blocker GroupOperation::named(transports::Blocker blocker) const noexcept {
  if (blocker.peer != transports::nobody) blocker.peer = group_->name_of(blocker.peer);
  return blocker;
}

}  // namespace hocket::engine::aggregation
