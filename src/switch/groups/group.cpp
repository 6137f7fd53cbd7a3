#include "switch/groups/group.hpp"

#include <algorithm>

#include "switch/wire/words.hpp"

namespace hocket::aggregation {

using wire::Error;
using wire::FrameKind;

namespace {

/// A parent that has gone may be back soon, but who cannot have a group uses what hosts have instead.
constexpr double seconds_without_parent = 2;

}  // namespace

Group::Group(const GroupName& name, std::uint32_t size, Site& site)
    : name_(name),
      size_(size),
      site_(site),
      patience_(site.limits.join_seconds),
      patience_without_parent_(std::min(site.limits.join_seconds, seconds_without_parent)),
      refusal_(site.jobs.reserve(name.job)),
      is_reserved_(refusal_ == Error::none) {
  ++site_.statistics.groups_founded;
}

Group::~Group() {
  end();
}

Child& Group::child_at(Port& port, std::uint32_t number) {
  const auto seat = port.seats.find(number);
  return seat != port.seats.end() ? *seat->second.child : roster_.add(*this, port, number);
}

void Group::check(const Child& newcomer, std::uint32_t size) {
  const bool is_taken = std::ranges::any_of(roster_.children(), [&](const auto& one) {
    return one.get() != &newcomer && one->lowest == newcomer.lowest;
  });
  if (size != size_ || newcomer.lowest >= size_ || is_taken) refusal_ = Error::invalid;
  size_ = std::min(size_, size);
}

void Group::join(Port& port, std::uint32_t number, const wire::Join& join) {
  if (!is_joining()) return fail(Error::invalid, "more have joined than its size", nullptr);
  Child& child = child_at(port, number);
  child.ranks = join.ranks;
  child.lowest = join.lowest;
  child.error = join.error;
  check(child, join.size);
  consider();
}

std::uint64_t Group::ranks() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& child : roster_.children()) sum += child->ranks;
  return sum;
}

/// Of all that have joined here.
wire::Join Group::summary() const noexcept {
  wire::Join join{
      .job = name_.job, .group = name_.number, .size = size_, .lowest = size_ - 1, .error = refusal_};
  for (const auto& child : roster_.children()) {
    join.ranks += child->ranks;
    join.lowest = std::min(join.lowest, child->lowest);
    if (join.error == Error::none) join.error = child->error;
  }
  return join;
}

/// Whether they are all, and where they are not, the parent hears how many there are by now.
void Group::consider() {
  if (ranks() < size_) return go_up();
  if (ranks() > size_) refusal_ = Error::invalid;
  if (roster_.above()) roster_.send_up({.kind = FrameKind::leave});
  roster_.close_above();
  conclude({summary().error, 0});
}

void Group::go_up() {
  if (!site_.above || roster_.is_empty()) return;
  if (!roster_.above()) roster_.open_above(*this, *site_.above, ++site_.used);
  roster_.send_up(FrameKind::join, summary());
}

void Group::conclude(const wire::Joined& verdict) {
  if (!is_joining()) throw wire::Malformed("a second verdict");
  if (verdict.error == Error::none && summary().error != Error::none)  // somebody has come who should not
    return fail(summary().error, wire::words_of(summary().error), nullptr);
  if (verdict.error != Error::none) ++site_.statistics.refusals[verdict.error];
  roster_.put_in_order();
  state_ = State::established;
  roster_.send_down(FrameKind::joined, wire::Joined{verdict.error, roster_.above() ? verdict.height + 1 : 0});
  if (verdict.error != Error::none) end();
}

/// What waits beyond this switch cannot come about either.
void Group::refuse(Error error) {
  roster_.send_up(FrameKind::failed, wire::failure_of(error, wire::words_of(error)));
  roster_.close_above();
  conclude({error, 0});
}

void Group::look_at_clock() {
  if (!is_joining()) return;
  const bool is_alone = site_.has_parent && !site_.above;
  if (is_alone && patience_without_parent_.passed())
    refuse(Error::no_tree);
  else if (patience_.passed())
    refuse(Error::join_refused);
}

/// The others could do nothing more without it: what they have of the tree is free at once. They have got all
/// that came of operations with it before they hear of that.
void Group::leave(Child& child) {
  if (!is_joining())
    return operations_.need(child) ? fail(Error::invalid, "a member has left in an operation", child.port)
                                   : fail(Error::none, "a member has left", child.port);
  roster_.remove(child);
  if (!roster_.is_empty()) return consider();
  roster_.send_up({.kind = FrameKind::leave});
  end();
}

void Group::demand_established() const {
  if (state_ != State::established) throw wire::Malformed("frames of a group before its verdict");
}

template <class Act>
void Group::unless_they_disagree(Act act) {
  try {
    act();
  } catch (const Disagreement& error) {
    fail(error.error(), error.what(), nullptr);
  }
}

void Group::take(Child& child, const wire::Piece& piece) {
  demand_established();
  if ((piece.head.flags & wire::streaming) != 0 && !lock_.is_held())
    throw wire::Malformed("streaming without a lock");
  unless_they_disagree([&] { operations_.take(child, piece); });
}

void Group::take_result(const wire::Piece& piece) {
  demand_established();
  operations_.take_result(piece);
}

TreeLock& Group::lock() {
  demand_established();
  return lock_;
}

void Group::fail(Error error, std::string_view words, const Port* origin) {
  if (is_over()) return;
  if (error != Error::none) ++site_.statistics.groups_failed;
  const wire::Failure failure = wire::failure_of(error, words);
  if (roster_.above() != origin) roster_.send_up(FrameKind::failed, failure);
  roster_.send_down(FrameKind::failed, failure, origin);
  end();
}

void Group::end() noexcept {
  roster_.forget();
  lock_.release();
  if (is_reserved_) site_.jobs.release(name_.job);
  is_reserved_ = false;
  state_ = State::over;
}

}  // namespace hocket::aggregation
