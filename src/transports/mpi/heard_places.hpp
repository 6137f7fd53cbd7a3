// A port's places that have heard a message, in the order in which these came.
#pragma once

#include <array>
#include <cstdint>

#include "transports/mpi/port.hpp"

namespace hocket::transports::mpi {

class HeardPlaces {
 public:
  void add(std::uint32_t place, Rank from) noexcept {
    ring_[(first_ + count_++) % Port::places] = {place, from};
  }
  std::uint32_t count() const noexcept { return count_; }
  /// The first of them. False: there is none.
  bool take(std::uint32_t& place, Rank& from) noexcept {
    if (count_ == 0) return false;
    place = ring_[first_].place;
    from = ring_[first_].from;
    first_ = (first_ + 1) % Port::places;
    --count_;
    return true;
  }

 private:
  struct Heard {
    std::uint32_t place = 0;
    Rank from = 0;
  };
  std::array<Heard, Port::places> ring_{};  ///< each is in it once at most
  std::uint32_t first_ = 0, count_ = 0;
};

}  // namespace hocket::transports::mpi
