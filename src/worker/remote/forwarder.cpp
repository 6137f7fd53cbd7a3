#include "worker/remote/forwarder.hpp"

#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hocket::worker::remote {

using engine::handover::StreamMemory;

namespace {

/// For what a rank that has ended has told.
constexpr double last_words_seconds = 5;
/// For what the ranks have on their way when they end: longer than the worker waits for it.
constexpr double farewell_seconds = 12;

}  // namespace

Forwarder::Forwarder(const Employment& employment, Hired hired)
    : memory_(*hired.link), reception_(employment), link_(std::move(hired.link)) {
  reception_.open(hired.address, hired.why_alone);
}

void Forwarder::look_around() {
  if (!glances_.are_due(monotonic_ns())) return;
  for (const Reception::Guest& guest : reception_.newcomers()) welcome(guest);
  see_off_the_dead();
}

void Forwarder::welcome(const Reception::Guest& guest) {
  guests_.try_emplace(guest.desk, reception_.desk(guest.desk), guest.process);
  link_->send({FrameKind::welcome, guest.desk, static_cast<std::uint32_t>(guest.rank), 0,
               static_cast<std::uint64_t>(guest.process)});
  reception_.accept(guest.desk);
}

/// All that it has told has been sent, or the worker does not take it.
bool Forwarder::has_ended(std::uint32_t desk, Guest& guest) const {
  if (reception_.is_taken(desk) || guest.process->is_alive()) return false;
  if (!guest.patience) guest.patience.emplace(last_words_seconds);
  return guest.commands.available() == 0 || guest.patience->passed();
}

void Forwarder::see_off_the_dead() {
  for (auto one = guests_.begin(); one != guests_.end();) {
    const auto next = std::next(one);
    if (has_ended(one->first, one->second)) {
      link_->send({FrameKind::ended, one->first});
      guests_.erase(one);
    }
    one = next;
  }
}

/// It has said what no rank says. For the worker it has ended.
void Forwarder::give_up(std::uint32_t desk) {
  if (guests_.erase(desk) == 0) return;
  link_->send({FrameKind::ended, desk});
  reception_.refuse(desk, 0);
}

/// No more than the worker has room for.
bool Forwarder::forward_of(std::uint32_t desk, Guest& guest) {
  std::array<std::byte, Frame::longest> bytes;
  bool any = false;
  while (guest.unread < StreamMemory::capacity) {
    const std::size_t room = std::min<std::size_t>(StreamMemory::capacity - guest.unread, bytes.size());
    const std::size_t count = guest.commands.read(std::span(bytes).first(room));
    if (count == 0) break;
    guest.unread += count;
    link_->send({FrameKind::commands, desk}, std::span(bytes).first(count));
    any = true;
  }
  return any;
}

bool Forwarder::forward() {
  bool any = false;
  std::vector<std::uint32_t> broken;
  for (auto& [desk, guest] : guests_) {
    if (guest.commands.is_broken()) broken.push_back(desk);
    any = forward_of(desk, guest) || any;
  }
  for (const std::uint32_t desk : broken) give_up(desk);
  return any;
}

std::shared_ptr<RankProcess> Forwarder::process_at(std::uint32_t desk) const noexcept {
  const auto guest = guests_.find(desk);
  return guest == guests_.end() ? nullptr : guest->second.process;
}

void Forwarder::share(Guest& guest, const Frame& frame) {
  engine::SharedRange range;
  if (frame.head.bytes != sizeof range) throw Error("a remote worker of another build");
  std::memcpy(&range, frame.payload.data(), sizeof range);
  try {
    guest.process->share(range);
  } catch (const Error&) {
    give_up(frame.head.desk);
  }
}

/// Who says something is well. What the worker says of a rank that is not there any more, nobody needs, but
/// that its memory is gone.
void Forwarder::carry_out(const Frame& frame) {
  const FrameHead& head = frame.head;
  reception_.beat();
  if (head.kind == FrameKind::read) return memory_.read(frame, process_at(head.desk));
  if (head.kind == FrameKind::write) return memory_.write(frame, process_at(head.desk));
  if (head.kind == FrameKind::beat) return;
  if (head.kind == FrameKind::connected) return reception_.say_connected();
  const auto found = guests_.find(head.desk);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  switch (head.kind) {
    case FrameKind::taken:
      if (head.length > guest.unread) throw Error("a remote worker that takes what it has not");
      guest.unread -= head.length;
      return;
    case FrameKind::completed:
      if (head.number >= engine::handover::most_under_way) throw Error("an operation that no rank has");
      return guest.process->complete(head.number, static_cast<Status>(head.address));
    case FrameKind::words:
      return guest.process->say_why({reinterpret_cast<const char*>(frame.payload.data()), head.bytes});
    case FrameKind::share:
      return share(guest, frame);
    case FrameKind::forget:
      return guest.process->forget_ranges();
    case FrameKind::given_up:
      guests_.erase(found);
      return reception_.refuse(head.desk, 0);
    default:
      throw Error("what no remote worker says");
  }
}

/// True: something has come.
bool Forwarder::hear() {
  const std::uint64_t before = link_->moved();
  for (const Frame* frame = link_->next(); frame; frame = link_->next()) {
    carry_out(*frame);
    memory_.turn();  // many may come at once
  }
  return memory_.turn() || link_->moved() != before;
}

/// It ends when all is on its way that the ranks have said last.
void Forwarder::say_farewell() {
  link_->send({FrameKind::farewell});
  for (const Deadline end(farewell_seconds); !link_->is_broken() && !end.passed(); sleep_ns(200'000)) hear();
}

/// What ranks tell, and what the worker says, ends it.
void Forwarder::rest() {
  reception_.rest(link_->alarm());
}

bool Forwarder::run() {
  while (!guests_.empty() || reception_.is_needed()) {
    if (link_->is_broken()) return false;
    look_around();
    reception_.hear_doorbell();
    const bool sent = forward();
    const bool heard = hear();
    if (!sent && !heard) rest();
  }
  say_farewell();
  return true;
}

}  // namespace hocket::worker::remote
