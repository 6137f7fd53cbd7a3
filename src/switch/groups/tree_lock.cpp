#include "switch/groups/tree_lock.hpp"

#include <algorithm>

#include "switch/wire/frame_reader.hpp"

namespace hocket::aggregation {

using wire::Error;
using wire::FrameKind;
using wire::Verdict;

/// In this round.
bool TreeLock::have_all(std::uint32_t Child::* count) const noexcept {
  return std::ranges::all_of(roster_.children(), [&](const auto& child) { return (*child).*count > round_; });
}

void TreeLock::ask(Child& child, Error below) {
  if (child.asked != child.returned) throw wire::Malformed("a lock that it has asked for before");
  ++child.asked;
  if (refusal_ == Error::none) refusal_ = below;
  go_on();
}

void TreeLock::give_back(Child& child) {
  if (!is_held() || child.returned > round_) throw wire::Malformed("an unlock without a lock");
  ++child.returned;
  go_on();
}

void TreeLock::go_on() {
  if (is_held() && have_all(&Child::returned)) {
    release();
    ++round_;
    state_ = State::open;
    roster_.send_up({.kind = FrameKind::unlock});
  }
  if (state_ == State::open && have_all(&Child::asked)) ask_above();
}

void TreeLock::ask_above() {
  state_ = State::asked;
  const Error own = jobs_.lock(job_);
  is_mine_ = own == Error::none;
  if (!is_mine_) ++statistics_.refusals[own];
  if (refusal_ == Error::none) refusal_ = own;
  if (roster_.above())
    roster_.send_up(FrameKind::lock, Verdict{refusal_});
  else
    conclude(refusal_);
}

void TreeLock::conclude(Error error) {
  if (state_ != State::asked || (error == Error::none && refusal_ != Error::none))
    throw wire::Malformed("a verdict of a lock that nobody waits for");
  refusal_ = Error::none;
  if (error == Error::none)
    state_ = State::held;
  else
    refuse();
  roster_.send_down(FrameKind::locked, Verdict{error});
}

/// Nobody gives back what he has not got.
void TreeLock::refuse() noexcept {
  release();
  state_ = State::open;
  ++round_;
  for (const auto& child : roster_.children()) child->returned = child->asked;
}

void TreeLock::release() noexcept {
  if (is_mine_) jobs_.unlock();
  is_mine_ = false;
}

}  // namespace hocket::aggregation
