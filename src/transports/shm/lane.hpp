// Instances of which several are under way at a time: what non-blocking operations of a communicator run on,
// beside the channel of its blocking ones. Starting one only numbers it; it may begin when the memory it
// takes turns in is free, which is_free() answers without waiting.
//
// Instances end in any order; peers are told the number up to which all have ended, so that a flag line, a
// payload area or a staging area is used again only when nobody reads it any more.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "transports/shm/instance.hpp"

namespace hocket::transports::shm {

class Lane {
 public:
  /// Areas of staging that instances take turns in: as many operations, or segments of large ones, move data
  /// at the same time.
  static constexpr std::uint32_t staging_depth = 4;
  static constexpr std::size_t staging_area_bytes = 256 * 1024;
  static constexpr std::size_t staging_bytes(Rank ranks) {
    return staging_shift + static_cast<std::size_t>(ranks) * staging_depth * staging_area_bytes;
  }

  /// `memory`: bytes_for(ranks), zeroed, and its own.
  Lane(std::byte* memory, Rank ranks, Rank rank, Waiting waiting) noexcept
      : channel_(memory, ranks, rank, waiting) {}

  Channel& channel() noexcept { return channel_; }
  const Channel& channel() const noexcept { return channel_; }

  /// Instances are numbered on from here, on all ranks alike and before the first one.
  void start_behind(std::uint32_t number) noexcept {
    channel_.start_behind(number);
    finished_ = number;
  }

  /// An instance and what it waits for.
  struct Ticket {
    Instance instance;
    std::uint32_t after = 0;  ///< it may begin when all ranks have finished this instance
    std::uint32_t staging_area = 0;
  };

  /// The next instance of a call with this signature, with room for payloads of at most `bytes` (equal on all
  /// ranks) beside the line.
  Ticket take(std::uint32_t signature, std::size_t bytes) noexcept {
    channel_.number(signature);
    const auto areas = static_cast<std::uint32_t>((bytes + payload_area_bytes - 1) / payload_area_bytes);
    const std::uint32_t after = payload_turns_.take(channel_.instance(), areas);
    return ticket(payload_turns_.current(), after, 0);
  }
  /// The same, with an area of staging.
  Ticket take_staging(std::uint32_t signature) noexcept {
    channel_.number(signature);
    const std::uint32_t after = staging_turns_.take(channel_.instance());
    return ticket(0, after, staging_turns_.current());
  }

  bool is_free(const Ticket& ticket) noexcept { return channel_.have_all_finished(ticket.after); }

  /// The same ticket for an operation that has come to need nothing but the flag line.
  static Ticket without_staging(Ticket ticket) noexcept {
    ticket.after = ticket.instance.number() - ring;
    return ticket;
  }

  /// This rank reads nothing of the instance any more, nor of the `count` - 1 after it, which were taken for
  /// the same operation.
  void leave(std::uint32_t number, std::uint32_t count = 1) noexcept {
    left_[number % ring] = count;
    if (number != finished_ + 1) return;
    while (const std::uint32_t left = std::exchange(left_[(finished_ + 1) % ring], 0)) finished_ += left;
    channel_.own_area().finished.store(finished_, std::memory_order_release);
    wake_sleepers(channel_.waiting(), &channel_.own_area().finished);
  }

  /// What to look at until is_free() may answer otherwise: the first rank that is behind.
  Blocker until_free(const Ticket& ticket) noexcept {
    for (Rank r = 0; r < channel_.ranks(); ++r) {
      const auto& finished = channel_.area_of(r).finished;
      const std::uint32_t seen = finished.load(std::memory_order_acquire);
      if (static_cast<std::int32_t>(ticket.after - seen) > 0) return {&finished, seen, r};
    }
    const auto& own = channel_.own_area().finished;
    return {&own, own.load(std::memory_order_relaxed), channel_.rank()};
  }

 private:
  /// The flag line is as old as the ring is long.
  Ticket ticket(std::uint32_t payload_area, std::uint32_t after, std::uint32_t staging_area) noexcept {
    const std::uint32_t number = channel_.instance();
    const std::uint32_t line_after = number - ring;
    if (static_cast<std::int32_t>(after - line_after) < 0) after = line_after;
    return {Instance(channel_, number, channel_.expected(), payload_area), after, staging_area};
  }

  Channel channel_;
  Turns<payload_areas, ring> payload_turns_;
  Turns<staging_depth, ring> staging_turns_;
  std::uint32_t finished_ = 0;              ///< all up to this one have been left
  std::array<std::uint32_t, ring> left_{};  ///< of those after it: how many from there on
};

}  // namespace hocket::transports::shm
