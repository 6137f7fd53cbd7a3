// What travels before, or with, the data of every message: whose it is, and of which call. All processes run
// the same build on machines of one kind (agreed at set-up), so it is sent as it lies in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "transports/mpi/port.hpp"

namespace hocket::transports::mpi {

/// The user's communicator: all members compute it alone (engine::SlotKey), so that none needs a message to
/// be opened, and messages of one that this rank has not opened yet can be kept.
struct CommunicatorId {
  std::uint64_t origin = 0;
  std::uint64_t members = 0;
  bool operator==(const CommunicatorId&) const = default;
};

/// The call that a message belongs to, in words that only the engine reads: for errors.
struct CallWords {
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  Rank root = 0;
};

struct Envelope {
  enum class Kind : std::uint32_t {
    data,
    failure,   ///< the communicator is given up; the payload says why
    inquiry,   ///< the sender waits for a message, and says in which call
    answer,    ///< to an inquiry: the sender is there, and waits, too, or is in another call
    notice,    ///< beside all calls: the payload is the engine's
    loan,      ///< the payload, a Loan, says where the sender has the data
    returned,  ///< the payload, a Return, says which loan is not needed any more
    part,      ///< the payload, a Part, says where in shared memory these bytes of a message are
    emptied,   ///< somebody has read a part whose place the receiver of this waits for
  };

  CommunicatorId communicator;
  std::uint64_t bytes = 0;      ///< of the message
  std::uint32_t instance = 0;   ///< of the operation on the communicator
  std::uint32_t number = 0;     ///< of the message among those of its pair of ranks in this instance
  std::uint32_t signature = 0;  ///< of the call and all before it
  std::uint32_t tag = 0;        ///< under which the data follow; 0: they are in here
  CallWords call;
  Kind kind = Kind::data;
};
static_assert(std::is_trivially_copyable_v<Envelope>);

/// Of data that a rank of the sender's node may read where they lie.
struct Loan {
  std::uint64_t address = 0;
  std::uint32_t number = 0;  ///< of all that this rank has lent
};

struct Return {
  std::uint32_t number = 0;
  std::uint32_t was_read = 0;  ///< 0: it could not be, and the data have to come by another way
};

/// Of data that a rank of the sender's node copies out of shared memory (shm::NodeStages).
struct Part {
  std::uint64_t offset = 0;  ///< in the message
  std::uint64_t bytes = 0;
  std::uint32_t stage = 0;
  std::uint32_t area = 0;
};

/// It belongs to this operation, but to another call than this rank's.
inline bool is_other_call(const Envelope& e, const CommunicatorId& communicator, std::uint32_t instance,
                          std::uint32_t signature) noexcept {
  return e.instance == instance && e.signature != signature && e.communicator == communicator;
}

/// Of one message: up to 16 KiB of data need no second one.
inline constexpr std::size_t packet_bytes = (std::size_t{16} << 10U) + sizeof(Envelope);

/// Nobody waits until a packet of up to so many bytes has left, so the MPI must never need its sender again:
/// it stays below the 4 KiB from which on Open MPI's shared memory asks the receiver first.
inline constexpr std::size_t unattended_bytes = 4000;
inline constexpr std::size_t eager_bytes = unattended_bytes - sizeof(Envelope);

struct Packet {
  Envelope envelope;
  std::array<std::byte, packet_bytes - sizeof(Envelope)> payload;
  // so much for what travels
  Packet* next = nullptr;   ///< in the list that it is in
  Rank from = -1;           ///< while it leaves: to whom
  Port::Ticket ticket = 0;  ///< while it leaves
};
static_assert(offsetof(Packet, payload) == sizeof(Envelope));

/// What the payload begins with, of a kind that says so.
template <class Words>
Words words_of(const Packet& packet) noexcept {
  static_assert(std::is_trivially_copyable_v<Words>);
  Words words;
  std::memcpy(&words, packet.payload.data(), sizeof words);
  return words;
}

}  // namespace hocket::transports::mpi
