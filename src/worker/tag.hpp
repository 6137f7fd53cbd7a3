// What the 64 bits say by which UCX finds the receive of a message: to whom it is, from whom, and its tag of
// the port's contract. The receiver is in it since the ranks that one process serves share what UCX receives
// with.
#pragma once

#include <cstdint>

#include "transports/mpi/port.hpp"

namespace hocket::worker {

using transports::mpi::Rank;

struct Tag {
  static constexpr unsigned rank_bits = 20, number_bits = 24;
  static constexpr std::uint64_t most_ranks = std::uint64_t{1} << rank_bits;
  static constexpr std::uint32_t last_number = (std::uint32_t{1} << number_bits) - 1;
  static constexpr std::uint64_t sender_mask = (most_ranks - 1) << number_bits;

  static constexpr std::uint64_t of(Rank receiver, Rank sender, std::uint32_t number) noexcept {
    return static_cast<std::uint64_t>(receiver) << (rank_bits + number_bits) |
           static_cast<std::uint64_t>(sender) << number_bits | number;
  }
  static constexpr Rank receiver(std::uint64_t tag) noexcept {
    return static_cast<Rank>(tag >> (rank_bits + number_bits));
  }
  static constexpr Rank sender(std::uint64_t tag) noexcept {
    return static_cast<Rank>((tag & sender_mask) >> number_bits);
  }
};

}  // namespace hocket::worker
