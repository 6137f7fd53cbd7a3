#include "worker/remote/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hocket::worker::remote {

namespace {

/// Between looks at the connection.
constexpr std::uint64_t look_ns = 2'000'000;

constexpr ir::Rank number_of(Side side) {
  return side == Side::host ? 0 : 1;
}

std::vector<Link::Address> both(const Fabric& fabric, Side side, const Link::Address& other) {
  const Link::Address own(fabric.address().begin(), fabric.address().end());
  return side == Side::host ? std::vector{own, other} : std::vector{other, own};
}

}  // namespace

Link::Link(std::unique_ptr<Fabric> fabric, Side side, const Address& other, engine::Descriptor connection)
    : other_(1 - number_of(side)), connection_(std::move(connection)), fabric_(std::move(fabric)) {
  fabric_->connect(both(*fabric_, side, other), {0, 1});
  port_ = fabric_->port(number_of(side), 2);
  for (std::uint32_t place = 0; place < places; ++place) listen(place);
  if (is_broken_) throw Error("the link does not begin");
}

Link::~Link() = default;

void Link::listen(std::uint32_t place) noexcept {
  is_broken_ = port_->listen(place, &heard_[place], sizeof(Frame)) != Status::ok || is_broken_;
}

void Link::send(FrameHead head, std::span<const std::byte> payload) noexcept try {
  if (is_broken_ || payload.size() > Frame::longest) return give_up();
  forget_sent();
  if (unused_.empty()) unused_.emplace_back();
  sent_.splice(sent_.end(), unused_, unused_.begin());
  Sent& one = sent_.back();
  head.bytes = static_cast<std::uint32_t>(payload.size());
  one.frame.head = head;
  std::ranges::copy(payload, one.frame.payload.begin());
  if (port_->send(&one.frame, sizeof head + payload.size(), other_, 0, one.ticket) == Status::ok) return;
  sent_.pop_back();
  give_up();
} catch (...) {  // no memory
  give_up();
}

/// In any order: only their memory is waited for.
void Link::forget_sent() noexcept {
  for (auto one = sent_.begin(); one != sent_.end();) {
    const auto next = std::next(one);
    const Status status = port_->test(one->ticket);
    if (status != Status::pending) unused_.splice(unused_.end(), sent_, one);
    if (status != Status::pending && status != Status::ok) give_up();
    one = next;
  }
}

std::size_t Link::unsent() noexcept {
  forget_sent();
  return sent_.size();
}

/// One that is shorter than it says, or longer than a frame may be, is of another build.
const Frame* Link::next() noexcept {
  if (current_ < places) listen(current_);
  current_ = places;
  ir::Rank from = 0;
  if (is_broken_) return nullptr;
  if (!port_->heard(current_, from)) {
    progress();
    if (is_broken_ || !port_->heard(current_, from)) return current_ = places, nullptr;
  }
  if (heard_[current_].head.bytes <= Frame::longest) return &heard_[current_];
  give_up();
  return nullptr;
}

bool Link::send_data(std::span<const std::byte> data, std::uint32_t number, Ticket& ticket) noexcept {
  if (!is_broken_ && port_->send(data.data(), data.size(), other_, number, ticket) == Status::ok) return true;
  give_up();
  return false;
}

bool Link::receive_data(std::span<std::byte> data, std::uint32_t number, Ticket& ticket) noexcept {
  if (!is_broken_ && port_->receive(data.data(), data.size(), other_, number, ticket) == Status::ok)
    return true;
  give_up();
  return false;
}

std::uint32_t Link::new_number() noexcept {
  number_ = number_ % port_->last_tag() + 1;
  return number_;
}

void Link::progress() noexcept {
  if (port_->look() != Status::ok) give_up();
}

/// Nothing is said there after the beginning.
bool Link::is_cut_off() noexcept {
  char byte = 0;
  const ssize_t got = recv(connection_.number(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool Link::is_broken() noexcept {
  if (is_broken_) return true;
  const std::uint64_t now = monotonic_ns();
  if (now - looked_ns_ < look_ns) return false;
  looked_ns_ = now;
  is_broken_ = fabric_->has_lost(other_) || is_cut_off();
  return is_broken_;
}

}  // namespace hocket::worker::remote
