// Transports with faults: decorators that delay, cut transfers into small parts, and fail, as told. For tests
// of transports and executors.
#pragma once

#include <cstdint>
#include <random>

#include "transports/transport.hpp"

namespace hocket::transports::fake {

struct Faults {
  std::uint64_t seed = 1;
  double pending = 0;            ///< probability that a step is not there yet, though it is
  std::uint64_t fail_after = 0;  ///< this many operations work, then every one fails; 0: never
};

/// Draws the faults of one rank; the same seed gives the same faults.
class Dice {
 public:
  explicit Dice(const Faults& faults) : faults_(faults), random_(faults.seed) {}
  /// ok: go on; pending or failed: answer that instead.
  Status draw() noexcept;

 private:
  Faults faults_;
  std::mt19937_64 random_;
  std::uint64_t operations_ = 0;
};

class FaultyTwoSided final : public TwoSided {
 public:
  FaultyTwoSided(TwoSided& below, const Faults& faults) : below_(below), dice_(faults) {}
  void take_in() noexcept override { below_.take_in(); }
  Status advance_send(Transfer& transfer) noexcept override;
  Status advance_recv(Transfer& transfer) noexcept override;
  Blocker send_blocker(const Transfer& transfer) const noexcept override {
    return below_.send_blocker(transfer);
  }
  Blocker recv_blocker(const Transfer& transfer) const noexcept override {
    return below_.recv_blocker(transfer);
  }

 private:
  TwoSided& below_;
  Dice dice_;
};

class FaultyOneSided final : public OneSided {
 public:
  FaultyOneSided(OneSided& below, const Faults& faults) : below_(below), dice_(faults) {}
  std::byte* own_staging() noexcept override { return below_.own_staging(); }
  const std::byte* staging_of(Rank owner) noexcept override { return below_.staging_of(owner); }
  void signal(std::uint32_t step) noexcept override { below_.signal(step); }
  Status reached(Rank peer, std::uint32_t step) noexcept override;
  Blocker blocker(Rank peer) const noexcept override { return below_.blocker(peer); }
  void everyone_reached() noexcept override { below_.everyone_reached(); }

 private:
  OneSided& below_;
  Dice dice_;
};

}  // namespace hocket::transports::fake
