#include "engine/call_turn.hpp"

namespace hocket::engine {

transports::mpi::CallWords words_of(const CallMark& mark) noexcept {
  return {mark.packed(0), mark.bytes, mark.root};
}

CallMark mark_in(const transports::mpi::CallWords& words) noexcept {
  return CallMark::unpacked(words.call, words.root, words.bytes);
}

/// The number goes through a bijection (the finalizer of splitmix64; Steele, Lea, Flood 2014), so that a
/// communicator's requests never meet.
transports::mpi::CommunicatorId id_of_starts(const transports::mpi::CommunicatorId& communicator,
                                             std::uint32_t request) noexcept {
  std::uint64_t mixed = request;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return {communicator.origin ^ mixed ^ mixed >> 31U, communicator.members};
}

}  // namespace hocket::engine
