// One of several operations under way on a lane (lane.hpp): its number, its flag line, and what its flags
// say. It never waits.
#pragma once

#include <optional>

#include "transports/shm/channel.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::shm {

class Instance {
 public:
  Instance() = default;
  /// `expected`: what flags of this instance say. `payload_area`: where payloads beside the line begin.
  Instance(Channel& lane, std::uint32_t number, std::uint64_t expected, std::uint32_t payload_area) noexcept
      : lane_(&lane), number_(number), payload_area_(payload_area), expected_(expected) {}

  Rank ranks() const noexcept { return lane_->ranks(); }
  Rank rank() const noexcept { return lane_->rank(); }
  std::uint32_t number() const noexcept { return number_; }
  /// Of all calls up to this one.
  std::uint32_t signature() const noexcept { return static_cast<std::uint32_t>(expected_ >> 32U); }
  const Waiting& waiting() const noexcept { return lane_->waiting(); }

  Line& own_line() noexcept { return lane_->own_area().lines[number_ % ring]; }
  const Line& line_of(Rank peer) const noexcept { return lane_->area_of(peer).lines[number_ % ring]; }
  std::byte* own_payload() noexcept { return payload_in(lane_->own_area()); }
  const std::byte* payload_of(Rank peer) const noexcept { return payload_in(lane_->area_of(peer)); }

  /// "I am here": publishes the payload written before.
  void announce() noexcept {
    Line& line = own_line();
    line.word.store(expected_, std::memory_order_release);
    wake_sleepers(waiting(), &line.word);
  }

  /// Whether the peer has announced the same instance of the same call: ok, pending or mismatch.
  Status arrived(Rank peer) const noexcept {
    const std::uint64_t word = line_of(peer).word.load(std::memory_order_acquire);
    if (word == expected_) return Status::ok;
    return static_cast<std::uint32_t>(word) == number_ ? Status::mismatch : Status::pending;
  }
  /// What to look at until it may have.
  Blocker until_arrived(Rank peer) const noexcept {
    const auto& flag = line_of(peer).word;
    return {&flag, static_cast<std::uint32_t>(flag.load(std::memory_order_relaxed)), peer};
  }
  /// The first peer that has not arrived.
  std::optional<Rank> missing_peer() const noexcept {
    for (Rank peer = 0; peer < ranks(); ++peer)
      if (peer != rank() && arrived(peer) == Status::pending) return peer;
    return std::nullopt;
  }
  /// Until it has.
  Blocker until_another_arrives() const noexcept { return until_arrived(missing_peer().value_or(rank())); }
  /// Other instances may be unfinished still: it says nothing about them.
  void everyone_arrived() const noexcept {}

  /// Peers of a compiled plan that have been dealt with, in its order.
  Rank& peers_seen() noexcept { return peers_seen_; }

 private:
  std::byte* payload_in(RankArea& area) const noexcept {
    return area.payload.data() + payload_area_ * payload_area_bytes;
  }

  Channel* lane_ = nullptr;
  std::uint32_t number_ = 0;
  std::uint32_t payload_area_ = 0;
  std::uint64_t expected_ = 0;
  Rank peers_seen_ = 0;
};

}  // namespace hocket::transports::shm
