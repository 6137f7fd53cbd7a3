#include "sharp/tree.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "sharp/communicator.hpp"

namespace hocket::sharp {

using wire::FrameHead;
using wire::FrameKind;

namespace {

template <class Value>
Value read(std::span<const std::byte> payload) noexcept {
  Value value;
  std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

bool is_of_length(const FrameHead& head) noexcept {
  switch (head.kind) {
    case FrameKind::joined:
      return head.bytes == sizeof(wire::Joined);
    case FrameKind::locked:
      return head.bytes == sizeof(wire::Verdict);
    case FrameKind::failed:
      return head.bytes == sizeof(wire::Failure);
    default:
      return false;  // nothing else comes down
  }
}

}  // namespace

Tree::~Tree() {
  for (const Deadline end(1); !is_lost_ && !outbox_.is_empty() && !end.passed();) {
    pollfd ready = alarm();
    poll(&ready, 1, 100);
    send();
  }
}

void Tree::go_on_with(wire::Admitted admitted) {
  connection_ = std::move(admitted.connection);
  welcome_ = admitted.welcome;
  inbox_ = Inbox();
  outbox_ = Outbox();
  is_lost_ = false;
}

void Tree::add(Communicator& communicator) {
  by_group_.emplace(communicator.group(), &communicator);
  in_turn_.push_back(&communicator);
  if (is_lost_) communicator.fail(SHARP_COLL_ECONN_TREE);
}

void Tree::remove(Communicator& communicator) {
  by_group_.erase(communicator.group());
  std::erase(in_turn_, &communicator);
}

Communicator* Tree::find(std::uint32_t group) const noexcept {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? nullptr : found->second;
}

void Tree::say(const FrameHead& head, std::span<const std::byte> payload) {
  if (is_lost_) return;
  outbox_.add_copy(head, payload);
  send();
}

void Tree::send() {
  while (!is_lost_) {
    const bool has_more = fill_outbox();
    switch (outbox_.send(connection_)) {
      case Outbox::Outcome::closed:
        return lose();
      case Outbox::Outcome::some_left:
        return;
      case Outbox::Outcome::all_sent:
        if (!has_more) return;
    }
  }
}

/// One frame of each communicator in turn. False: none of them has any more.
bool Tree::fill_outbox() {
  for (std::size_t without = 0; without < in_turn_.size();) {
    if (outbox_.is_full()) return true;
    const std::optional<OutgoingFrame> frame = in_turn_[turn_++ % in_turn_.size()]->operations().next_frame();
    if (frame) outbox_.add(*frame);
    without = frame ? 0 : without + 1;
  }
  return false;
}

bool Tree::progress() {
  if (is_lost_) return false;
  const Inbox::Outcome outcome = inbox_.receive(connection_, *this);
  if (outcome == Inbox::Outcome::closed)
    lose();
  else
    send();
  return outcome != Inbox::Outcome::nothing;
}

pollfd Tree::alarm() const noexcept {
  const int events = outbox_.is_empty() ? POLLIN : POLLIN | POLLOUT;
  return {is_lost_ ? -1 : connection_.number(), static_cast<short>(events), 0};
}

void Tree::cut() noexcept {
  shutdown(connection_.number(), SHUT_RDWR);
}

/// The switch hears of it, too, where it is this side that gives up.
void Tree::lose() {
  is_lost_ = true;
  cut();
  for (Communicator* const one : in_turn_) one->fail(SHARP_COLL_ECONN_TREE);
}

bool Tree::begins(const FrameHead& head) noexcept {
  if (head.kind != FrameKind::data) return is_of_length(head);
  Communicator* const communicator = find(head.group);
  return !communicator || communicator->is_dead() || communicator->operations().expects(head);
}

std::byte* Tree::place(const FrameHead& head, std::size_t done) noexcept {
  Communicator* const communicator = find(head.group);
  return communicator ? communicator->operations().place(head, done) : nullptr;
}

void Tree::landed(const FrameHead& head, std::size_t bytes) noexcept {
  if (Communicator* const communicator = find(head.group))
    communicator->landed(head.operation, communicator->operations().got(head.operation) + bytes);
}

void Tree::take(const FrameHead& head, std::span<const std::byte> payload) noexcept {
  if (head.kind == FrameKind::failed && head.group == 0) return cut();
  Communicator* const communicator = find(head.group);
  if (!communicator || communicator->is_dead()) return;
  switch (head.kind) {
    case FrameKind::joined:
      return communicator->joined(read<wire::Joined>(payload).error);
    case FrameKind::locked:
      return communicator->locked(read<wire::Verdict>(payload).error);
    case FrameKind::failed:
      return communicator->lost(read<wire::Failure>(payload));
    default:
      return communicator->landed(head.operation, head.offset);
  }
}

}  // namespace hocket::sharp
