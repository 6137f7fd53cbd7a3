#include "engine/guard.hpp"

#include <utility>

#include "base/clock.hpp"

namespace hocket::engine {

namespace {
constexpr std::uint64_t ask_for_life_after_ns = 20'000'000;
}  // namespace

std::string posted_failure(const transports::shm::Header& header, double seconds) {
  const Deadline deadline(seconds);
  while (header.failed.load(std::memory_order_acquire) == 1) {
    if (deadline.passed()) return "a collective failed; the rank that noticed has not said why";
    sleep_ns(100'000);
  }
  return header.error_text.data();
}

Status Guard::look(Rank peer, std::uint64_t waited_ns) noexcept {
  if (failed()) return Status::failed;
  if (peer != transports::nobody) {
    // Its flag, or its message, will never come.
    if (calls_.differ(peer)) return Status::mismatch;
    // What it wrote last may have come since the caller looked: once more then.
    if (waited_ns > ask_for_life_after_ns && has_ended(peer) && std::exchange(gone_, peer) == peer) {
      dead_ = peer;
      return Status::peer_dead;
    }
  }
  const double stall = engine_.options().stall_seconds;
  if (stall > 0 && static_cast<double>(waited_ns) * 1e-9 > stall) report_stall(waited_ns);
  return Status::ok;
}

bool Guard::has_ended(Rank peer) const noexcept {
  return !engine_.arena()->alive(members_[static_cast<std::size_t>(peer)]);
}

bool Guard::fail_with_dead(Rank peer, std::uint32_t call) noexcept {
  if (!has_ended(peer)) return false;
  dead_ = peer;
  fail(call, Status::peer_dead);
  return true;
}

void Guard::report_stall(std::uint64_t waited_ns) noexcept {
  std::uint32_t last = channel_->header().stall_reported.load(std::memory_order_relaxed);
  const std::uint32_t now = channel_->instance();
  if (last == now || !channel_->header().stall_reported.compare_exchange_strong(last, now)) return;
  try {
    engine_.say("call " + std::to_string(now) + " of a communicator of " + std::to_string(members_.size()) +
                " ranks has been waiting for " + std::to_string(waited_ns / 1'000'000'000U) +
                " s: " + calls_.describe(now));
  } catch (...) {
    return;  // no memory for the message: the wait matters more
  }
}

std::string Guard::name_of(Rank rank) const {
  const Rank world = members_[static_cast<std::size_t>(rank)];
  return "rank " + std::to_string(rank) + " (rank " + std::to_string(world) + " of the job, process " +
         std::to_string(engine_.arena()->pid_of(world)) + " on " + engine_.arena()->host_of(world) + ")";
}

std::string Guard::explain(std::uint32_t call, Status status, const std::string& detail) const {
  if (status == Status::mismatch) call = calls_.first_difference(call);
  const std::string where = calls_.describe(call);
  switch (status) {
    case Status::mismatch:
      if (!detail.empty())
        return "the ranks of a communicator disagree about the data of call " + std::to_string(call) + ": " +
               detail + ": " + where;
      return "the ranks of a communicator call different collectives (call " + std::to_string(call) +
             "): " + where;
    case Status::peer_dead:
      return name_of(dead_) + " has ended during a collective: " + where;
    case Status::no_memory:
      if (!detail.empty() && !calls_.is_marked(call))
        return detail;  // a non-blocking one that was never started
      return (detail.empty() ? "no memory for a collective on one of the ranks: " : detail + ": ") + where;
    default:
      return (detail.empty() ? "a collective failed: " : "a collective failed: " + detail + ": ") + where;
  }
}

void Guard::fail(std::uint32_t call, Status status, const std::string& detail) noexcept {
  post_failure(failures_, [&] { return explain(call, status, detail); });
}

void Guard::fail(const std::string& text) noexcept {
  post_failure(failures_, [&] { return text; });
}

}  // namespace hocket::engine
