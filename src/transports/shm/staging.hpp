// One-sided access within a communicator's slot: each rank's staging buffer, `depth` areas deep, and the
// steps of its flag line.
#pragma once

#include <sys/mman.h>

#include "transports/shm/channel.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::shm {

inline constexpr std::uint32_t staging_depth = 3;
inline constexpr std::size_t staging_area_bytes = 256 * 1024;

inline constexpr std::size_t staging_bytes(Rank ranks) {
  return staging_shift + static_cast<std::size_t>(ranks) * staging_depth * staging_area_bytes;
}

class Staging final : public OneSided {
 public:
  explicit Staging(Channel& channel) noexcept : channel_(channel) {}
  /// The buffers of all ranks; steps work without.
  void use(std::byte* memory) noexcept {
    if (memory && memory != memory_) map_own(memory);
    memory_ = memory;
  }

  /// The next instance: when ok, this rank's area is free and its flag says that it is here.
  Status begin(std::uint32_t signature) noexcept {
    if (const Status s = channel_.begin(signature); s != Status::ok) return s;
    if (const Status s = channel_.all_finished(turns_.take(channel_.instance())); s != Status::ok) return s;
    channel_.own_line().signals.step.store(0, std::memory_order_relaxed);
    channel_.announce();
    return Status::ok;
  }
  void finish() noexcept { channel_.finish_now(); }

  std::byte* own_staging() noexcept override { return area(channel_.rank()); }
  const std::byte* staging_of(Rank owner) noexcept override { return area(owner); }

  void signal(std::uint32_t step) noexcept override {
    auto& own = channel_.own_line().signals.step;
    own.store(step, std::memory_order_release);
    wake_sleepers(channel_.waiting(), &own);
  }
  Status reached(Rank peer, std::uint32_t step) noexcept override {
    if (const Status s = channel_.arrived_now(peer); s != Status::ok) return s;
    return channel_.line_of(peer).signals.step.load(std::memory_order_acquire) >= step ? Status::ok
                                                                                       : Status::pending;
  }
  /// Until the peer's flag shows this instance, its step is that of an older one; both change its value when
  /// they change.
  Blocker blocker(Rank peer) const noexcept override {
    const Line& line = channel_.line_of(peer);
    return {&line.signals.step, line.signals.step.load(std::memory_order_relaxed), peer};
  }
  void everyone_reached() noexcept override { channel_.everyone_arrived(); }

  Line& own_line() noexcept { return channel_.own_line(); }
  const Line& line_of(Rank peer) const noexcept { return channel_.line_of(peer); }

 private:
  /// All pages that this rank writes, at once: one by one, they would cost the first large calls 1 to 2 us
  /// each. Where the kernel cannot (before Linux 5.14), they do.
  void map_own(std::byte* memory) const noexcept {
    constexpr std::size_t own_bytes = staging_depth * staging_area_bytes;
    constexpr int populate_write = 23;  // MADV_POPULATE_WRITE
    madvise(memory + static_cast<std::size_t>(channel_.rank()) * own_bytes, own_bytes + staging_shift,
            populate_write);
  }

  std::byte* area(Rank owner) const noexcept {
    const std::size_t index = static_cast<std::size_t>(owner) * staging_depth + turns_.current();
    return memory_ + staging_shift + index * staging_area_bytes;
  }

  Channel& channel_;
  std::byte* memory_ = nullptr;
  Turns<staging_depth, ring> turns_;
};

}  // namespace hocket::transports::shm
