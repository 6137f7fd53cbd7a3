// Packets without use, and packets that have arrived before anybody asked for them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "transports/mpi/envelope.hpp"

namespace hocket::transports::mpi {

/// Grows by blocks and never shrinks: warm, it does not allocate.
class PacketPool {
 public:
  /// Null: no memory.
  Packet* take() noexcept;
  void give_back(Packet* packet) noexcept {
    packet->next = free_;
    free_ = packet;
  }

 private:
  static constexpr std::size_t block_packets = 32;
  std::vector<std::unique_ptr<Packet[]>> blocks_;
  Packet* free_ = nullptr;
};

/// By communicator, instance, sender and number.
class Arrivals {
 public:
  struct Address {
    CommunicatorId communicator;
    std::uint32_t instance;
    std::uint32_t number;
    Rank from;
    bool operator==(const Address&) const = default;
  };

  void add(Packet* packet) noexcept;
  /// Whether nobody will ask for it: once.
  bool is_unwanted(const Packet& packet) noexcept;
  /// Of one that has not come. Where there is no memory to remember it, it stays when it comes.
  void refuse(const Address& address) noexcept;
  /// Takes it out, of several the one that came first; null if there is none.
  Packet* take(const Address& address) noexcept;
  /// One of this operation, but of another call; null if there is none. Looks at everything.
  const Packet* other_call(const CommunicatorId& communicator, std::uint32_t instance,
                           std::uint32_t signature) const noexcept;

 private:
  static constexpr std::size_t places = 1024;
  static std::size_t place_of(const Address& address) noexcept;

  std::array<Packet*, places> lists_{};
  std::vector<Address> unwanted_;
};

}  // namespace hocket::transports::mpi
