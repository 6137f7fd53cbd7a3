#include "worker/remote/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hocket::worker::remote {

namespace {

constexpr ir::Rank number_of(Side side) {
  return side == Side::host ? 0 : 1;
}

std::vector<Link::Address> both(const Fabric& fabric, Side side, const Link::Address& other) {
  const Link::Address own(fabric.address().begin(), fabric.address().end());
  return side == Side::host ? std::vector{own, other} : std::vector{other, own};
}

}  // namespace

Link::Link(std::unique_ptr<Fabric> fabric, Side side, const Address& other, const LinkWord& word,
           Descriptor connection)
    : other_(1 - number_of(side)),
      word_(word),
      connection_(std::move(connection)),
      fabric_(std::move(fabric)) {
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
  head.bytes = static_cast<std::uint32_t>(payload.size());
  head.sequence = ++frames_sent_;
  head.word = word_;
  Sent& one = new_frame();
  one.frame.head = head;
  std::ranges::copy(payload, one.frame.payload.begin());
  if (port_->send(&one.frame, sizeof head + payload.size(), other_, 0, one.ticket) == Status::ok) return;
  sent_.pop_back();
  give_up();
} catch (...) {  // no memory
  give_up();
}

Link::Sent& Link::new_frame() {
  if (spare_.empty())
    sent_.emplace_back();
  else
    sent_.splice(sent_.end(), spare_, spare_.begin());
  return sent_.back();
}

/// In any order: only their memory is waited for.
void Link::forget_sent() noexcept {
  for (auto one = sent_.begin(); one != sent_.end();) {
    const auto at = one++;
    const Status status = port_->test(at->ticket);
    if (status == Status::pending) continue;
    if (status != Status::ok) give_up();
    if (spare_.size() < most_spare)
      spare_.splice(spare_.begin(), sent_, at);
    else
      sent_.erase(at);
  }
}

std::size_t Link::unsent() noexcept {
  forget_sent();
  return sent_.size();
}

/// Others reach the network, too, and may send what they like: it is not heard.
bool Link::is_from_other(const FrameHead& head, ir::Rank from) const noexcept {
  unsigned differ = from == other_ ? 0 : 1;
  for (std::size_t i = 0; i < word_.size(); ++i)
    differ |= static_cast<unsigned char>(word_[i] ^ head.word[i]);
  return differ == 0;
}

/// One that is out of turn, or says that it is longer than it can be, is of another build; or UCX was told to
/// ask before it sends frames, and they do not come in order.
const Frame* Link::next() noexcept {
  for (ir::Rank from = 0; !is_broken_;) {
    if (current_ < places) listen(current_);
    current_ = places;
    if (!port_->heard(current_, from)) {
      progress();
      if (is_broken_ || !port_->heard(current_, from)) return current_ = places, nullptr;
    }
    const FrameHead& head = heard_[current_].head;
    if (!is_from_other(head, from)) continue;
    if (head.bytes <= Frame::longest && head.sequence == ++frames_heard_) return &heard_[current_];
    give_up();
  }
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
  const Status found = port_->look();
  if (found != Status::ok && found != Status::pending) give_up();
}

/// Nothing is said there after the beginning.
bool Link::is_cut_off() noexcept {
  char byte = 0;
  const ssize_t got = recv(connection_.number(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool Link::is_broken() noexcept {
  if (is_broken_) return true;
  if (!glances_.are_due(monotonic_ns())) return false;
  is_broken_ = fabric_->has_lost(other_) || is_cut_off();
  return is_broken_;
}

}  // namespace hocket::worker::remote
