#include "switch/groups/groups.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "switch/wire/words.hpp"

namespace hocket::aggregation {

using wire::Error;
using wire::FrameKind;

namespace {

/// Of a frame whose length has been checked; what has not come is zero.
template <class Value>
Value value_in(const wire::Piece& piece) {
  Value value{};
  std::memcpy(&value, piece.payload.data(), piece.payload.size());
  return value;
}

Seat seat_of(const Port& port, std::uint32_t number) {
  const auto seat = port.seats.find(number);
  return seat == port.seats.end() ? Seat{} : seat->second;
}

void check(const Port& port, std::uint32_t number, const wire::Join& join) {
  if (join.size == 0 || join.ranks == 0 || join.ranks > join.size || join.lowest >= join.size)
    throw wire::Malformed("a join of ranks that cannot be");
  if (port.is_switch()) return;
  if (join.job != port.job() || join.ranks != 1 || join.group != number || join.error != Error::none)
    throw wire::Malformed("a join that no host says");
}

/// Of this member alone: there is no such group here.
void refuse(Port& port, std::uint32_t number, Error error) {
  port.send_value({.kind = FrameKind::joined, .group = number}, wire::Joined{error, 0});
}

void hear_failure(const Port& port, const Seat& seat, const wire::Piece& piece) {
  const auto failure = value_in<wire::Failure>(piece);
  if (piece.head.group == 0) throw hocket::Error(wire::words_in(failure));
  if (seat.group) seat.group->fail(failure.error, wire::words_in(failure), &port);
}

}  // namespace

void Groups::found(Port& port, std::uint32_t number, const wire::Join& join) {
  // More than it may have, all refused, is no honest host's. A switch passes on what others say: no fault of
  // its own.
  if (!port.is_switch() && port.seats.size() > std::size_t{2} * site_.limits.groups)
    throw wire::Malformed("joins without end");
  if (groups_.size() >= std::size_t{site_.limits.groups} * site_.limits.jobs)
    return refuse(port, number, Error::group_refused);
  const GroupName name{join.job, join.group};
  groups_.emplace(name, std::make_unique<Group>(name, join.size, site_))->second->join(port, number, join);
}

void Groups::hear_join(Port& port, std::uint32_t number, const wire::Join& join) {
  check(port, number, join);
  if (const Seat seat = seat_of(port, number); seat.group) {
    if (!port.is_switch()) throw wire::Malformed("a second join");
    return seat.group->join(port, number, join);
  }
  const auto [first, last] = groups_.equal_range({join.job, join.group});
  for (auto row = first; row != last; ++row) {
    if (row->second->is_over()) continue;
    if (row->second->is_joining()) return row->second->join(port, number, join);
    return refuse(port, number, Error::invalid);
  }
  found(port, number, join);
}

void Groups::hear_from_below(Port& port, const wire::Piece& piece) {
  const wire::FrameHead& head = piece.head;
  if (head.kind == FrameKind::join) return hear_join(port, head.group, value_in<wire::Join>(piece));
  const Seat seat = seat_of(port, head.group);
  if (head.kind == FrameKind::failed) return hear_failure(port, seat, piece);
  if (!seat.group) return;
  switch (head.kind) {
    case FrameKind::leave:
      return seat.group->leave(*seat.child);
    case FrameKind::lock:
      return seat.group->lock().ask(*seat.child, value_in<wire::Verdict>(piece).error);
    case FrameKind::unlock:
      return seat.group->lock().give_back(*seat.child);
    default:
      return seat.group->take(*seat.child, piece);
  }
}

void Groups::hear_from_above(const wire::Piece& piece) {
  const wire::FrameHead& head = piece.head;
  const Seat seat = seat_of(*site_.above, head.group);
  if (head.kind == FrameKind::failed) return hear_failure(*site_.above, seat, piece);
  if (!seat.group) return;
  switch (head.kind) {
    case FrameKind::joined:
      return seat.group->conclude(value_in<wire::Joined>(piece));
    case FrameKind::locked:
      return seat.group->lock().conclude(value_in<wire::Verdict>(piece).error);
    default:
      return seat.group->take_result(piece);
  }
}

void Groups::fail_all_of(Port& port, Error error, std::string_view words) {
  std::vector<Group*> all;  // failing takes seats away
  for (const auto& [number, seat] : port.seats) all.push_back(seat.group);
  for (Group* const group : all) group->fail(error, words, &port);
}

void Groups::set_parent(Port* parent, std::string_view why_lost) {
  if (!parent) {
    if (site_.above) fail_all_of(*site_.above, Error::no_tree, why_lost);
    site_.above = nullptr;
    return;
  }
  site_.above = parent;
  for (const auto& [name, group] : groups_)
    if (group->is_joining()) group->go_up();
}

void Groups::lose(Port& child, std::string_view why) {
  fail_all_of(child, Error::general, why);
}

void Groups::look_at_clock() {
  for (const auto& [name, group] : groups_) group->look_at_clock();
}

void Groups::sweep() {
  std::erase_if(groups_, [](const auto& row) { return row.second->is_over(); });
}

}  // namespace hocket::aggregation
