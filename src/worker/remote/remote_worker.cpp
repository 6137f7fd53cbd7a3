#include "worker/remote/remote_worker.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hocket::worker::remote {

using engine::handover::StreamMemory;

namespace {

/// Between beats: far below any stall limit.
constexpr long beat_ns = 20'000'000;
/// Where nothing can tell that something has come.
constexpr long shortest_nap_ns = 50'000;
/// Of a stream, before the host is told: often enough that it is never full for long.
constexpr std::uint64_t taken_at_once = StreamMemory::capacity / 4;

}  // namespace

RemoteWorker::RemoteWorker(Applicant applicant)
    : desks_(applicant.terms.desks),
      link_(std::move(applicant.link)),
      memory_(*link_, [this] { beat(); }),
      ranks_(*this, applicant.terms) {
  applicant.accept(ranks_.address(), ranks_.why_alone());
}

/// What has not left will say as much.
void RemoteWorker::beat() noexcept {
  const std::uint64_t now = monotonic_ns();
  if (now - beat_ns_ < static_cast<std::uint64_t>(beat_ns) || link_->unsent() != 0) return;
  beat_ns_ = now;
  link_->send({FrameKind::beat});
}

void RemoteWorker::welcome(const FrameHead& head) {
  if (head.desk >= desks_ || guests_.contains(head.desk)) throw Error("a desk that the host does not have");
  Guest& guest = guests_[head.desk];
  auto process =
      std::make_unique<RemoteProcess>(*link_, memory_, head.desk, static_cast<pid_t>(head.address));
  guest.process = process.get();
  ranks_.add(head.desk, static_cast<ir::Rank>(head.number), std::move(process), *guest.stream);
}

/// Of a rank that is not served any more they are of no use.
void RemoteWorker::take_commands(const Frame& frame) {
  if (!ranks_.serves(frame.head.desk)) return;
  if (guests_.at(frame.head.desk).writer.write(frame.data()) != frame.head.bytes)
    throw Error("a host that sends more than there is room for");
}

void RemoteWorker::carry_out(const Frame& frame) {
  const std::uint32_t desk = frame.head.desk;
  switch (frame.head.kind) {
    case FrameKind::welcome:
      return welcome(frame.head);
    case FrameKind::commands:
      return take_commands(frame);
    case FrameKind::ended:
      if (!ranks_.serves(desk)) return;
      guests_.at(desk).process->end();
      return ranks_.see_off(desk);
    case FrameKind::farewell:
      is_dismissed_ = true;
      return;
    default:
      throw Error("what no host says");
  }
}

/// True: something has come.
bool RemoteWorker::hear() {
  bool any = false;
  for (const Frame* frame = memory_.next(); frame; frame = memory_.next()) {
    carry_out(*frame);
    any = true;
  }
  return any;
}

void RemoteWorker::say_taken() noexcept {
  for (auto& [desk, guest] : guests_) {
    const std::uint64_t taken = guest.stream->read.load(std::memory_order_relaxed);
    if (taken - guest.taken < taken_at_once) continue;
    link_->send({FrameKind::taken, desk, 0, 0, 0, taken - guest.taken});
    guest.taken = taken;
  }
}

bool RemoteWorker::is_needed() const noexcept {
  return !is_dismissed_ || !ranks_.is_empty() || !ranks_.have_left();
}

/// All that it waits for rings; it only has to beat.
void RemoteWorker::rest() noexcept {
  const Alarm link = link_->alarm();
  const Alarm ranks = ranks_.alarm();
  if (link.is_deaf || ranks.is_deaf) return sleep_ns(shortest_nap_ns);
  sleep_until(link, ranks, beat_ns);
}

bool RemoteWorker::run() {
  while (is_needed()) {
    if (link_->is_broken()) return false;
    beat();
    const std::uint64_t now = monotonic_ns();
    if (glances_.are_due(now)) ranks_.look_around(now);
    const bool heard = hear();
    const bool moved = ranks_.turn();
    say_taken();
    if (!heard && !moved) rest();
  }
  return true;
}

}  // namespace hocket::worker::remote
