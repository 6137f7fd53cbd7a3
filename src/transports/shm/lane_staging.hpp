// One-sided access for one instance of a lane: its staging area, and the steps of its flag line.
#pragma once

#include "transports/shm/lane.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::shm {

class LaneStaging final : public OneSided {
 public:
  /// The areas of all ranks; steps work without.
  void use(std::byte* memory) noexcept { memory_ = memory; }

  /// The instance's memory is free: its flag says that this rank is here.
  void enter(const Lane::Ticket& ticket) noexcept {
    instance_ = ticket.instance;
    area_ = ticket.staging_area;
    instance_.own_line().signals.step.store(0, std::memory_order_relaxed);
    instance_.announce();
  }

  std::byte* own_staging() noexcept override { return area_of(instance_.rank()); }
  const std::byte* staging_of(Rank owner) noexcept override { return area_of(owner); }

  void signal(std::uint32_t step) noexcept override {
    auto& own = instance_.own_line().signals.step;
    own.store(step, std::memory_order_release);
    wake_sleepers(instance_.waiting(), &own);
  }
  Status reached(Rank peer, std::uint32_t step) noexcept override {
    if (const Status s = instance_.arrived(peer); s != Status::ok) return s;
    return instance_.line_of(peer).signals.step.load(std::memory_order_acquire) >= step ? Status::ok
                                                                                        : Status::pending;
  }
  Line& own_line() noexcept { return instance_.own_line(); }
  const Line& line_of(Rank peer) const noexcept { return instance_.line_of(peer); }

  Blocker blocker(Rank peer) const noexcept override {
    const Line& line = instance_.line_of(peer);
    return {&line.signals.step, line.signals.step.load(std::memory_order_relaxed), peer};
  }

 private:
  std::byte* area_of(Rank owner) const noexcept {
    return memory_ + staging_shift +
           (static_cast<std::size_t>(owner) * Lane::staging_depth + area_) * Lane::staging_area_bytes;
  }

  std::byte* memory_ = nullptr;
  Instance instance_;
  std::uint32_t area_ = 0;
};

}  // namespace hocket::transports::shm
