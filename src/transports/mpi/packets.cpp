#include "transports/mpi/packets.hpp"

#include <algorithm>

namespace hocket::transports::mpi {

/// Most packets are short: of a long one's memory no more is touched than is needed.
Packet* PacketPool::take() noexcept {
  if (!free_) try {
      blocks_.push_back(std::make_unique_for_overwrite<Packet[]>(block_packets));
      for (std::size_t i = 0; i < block_packets; ++i) give_back(&blocks_.back()[i]);
    } catch (...) {
      return nullptr;
    }
  Packet* packet = free_;
  free_ = packet->next;
  packet->next = nullptr;
  return packet;
}

std::size_t Arrivals::place_of(const Address& address) noexcept {
  std::uint64_t h = address.communicator.origin ^ address.communicator.members * 0x9e3779b97f4a7c15U;
  h ^= static_cast<std::uint64_t>(address.instance) << 32U ^
       static_cast<std::uint64_t>(address.number) << 16U ^ static_cast<std::uint32_t>(address.from);
  return (h * 0x9e3779b97f4a7c15U) >> 40U & (places - 1);
}

void Arrivals::add(Packet* packet) noexcept {
  const Envelope& e = packet->envelope;
  Packet*& list = lists_[place_of({e.communicator, e.instance, e.number, packet->from})];
  packet->next = list;
  list = packet;
}

bool Arrivals::is_unwanted(const Packet& packet) noexcept {
  if (unwanted_.empty()) [[likely]]
    return false;
  const Envelope& e = packet.envelope;
  const auto found = std::ranges::find(unwanted_, Address{e.communicator, e.instance, e.number, packet.from});
  if (found == unwanted_.end()) return false;
  *found = unwanted_.back();
  unwanted_.pop_back();
  return true;
}

void Arrivals::refuse(const Address& address) noexcept {
  try {
    unwanted_.push_back(address);
  } catch (...) {
    return;
  }
}

Packet* Arrivals::take(const Address& address) noexcept {
  Packet** oldest = nullptr;  // lists begin with what came last
  for (Packet** at = &lists_[place_of(address)]; *at; at = &(*at)->next) {
    const Envelope& e = (*at)->envelope;
    if ((*at)->from == address.from && e.instance == address.instance && e.number == address.number &&
        e.communicator == address.communicator)
      oldest = at;
  }
  if (!oldest) return nullptr;
  Packet* const packet = *oldest;
  *oldest = packet->next;
  packet->next = nullptr;
  return packet;
}

const Packet* Arrivals::other_call(const CommunicatorId& communicator, std::uint32_t instance,
                                   std::uint32_t signature) const noexcept {
  for (const Packet* list : lists_)
    for (const Packet* packet = list; packet; packet = packet->next)
      if (is_other_call(packet->envelope, communicator, instance, signature)) return packet;
  return nullptr;
}

}  // namespace hocket::transports::mpi
