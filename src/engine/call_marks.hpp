// The marks that each rank leaves in shared memory: which call its instance is. Written always, read when
// something is late or wrong.
#pragma once

#include <optional>
#include <string>

#include "engine/call.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine {

struct CallMark {
  Function function = Function::other;
  std::uint8_t operation = 0;
  bool native = false;  ///< run by the MPI
  Rank root = 0;
  std::size_t bytes = 0;
  bool operator==(const CallMark&) const = default;

  /// What fits one word, with the instance that tells marks of the same place apart.
  std::uint64_t packed(std::uint32_t instance) const noexcept {
    return static_cast<std::uint64_t>(instance) << 32U | static_cast<std::uint64_t>(native) << 16U |
           static_cast<std::uint64_t>(operation) << 8U | static_cast<std::uint64_t>(function);
  }

  static CallMark unpacked(std::uint64_t call, Rank root, std::size_t bytes) noexcept {
    return {static_cast<Function>(call & 0xffU), static_cast<std::uint8_t>(call >> 8U & 0xffU),
            (call >> 16U & 1U) != 0, root, bytes};
  }

  /// "MPI_Reduce(64 bytes, root 2, MPI_SUM)"
  std::string text() const;
};

inline void leave_mark(transports::shm::Channel& channel, std::uint32_t instance,
                       const CallMark& mark) noexcept {
  transports::shm::Mark& m = channel.own_area().marks[instance % transports::shm::marks_kept];
  m.bytes.store(mark.bytes, std::memory_order_relaxed);
  m.root.store(mark.root, std::memory_order_relaxed);
  m.call.store(mark.packed(instance), std::memory_order_release);
}

/// The mark of a rank for an instance, while it is still there.
std::optional<CallMark> mark_of(transports::shm::Channel& channel, Rank rank,
                                std::uint32_t instance) noexcept;

/// The earliest instance up to this one in which calls of ranks differ, as far as marks are still there; else
/// this one.
std::uint32_t first_difference(transports::shm::Channel& channel, std::uint32_t instance) noexcept;

/// All ranks' calls of an instance, equal ones together: "ranks 0-2 in MPI_Allreduce(8 bytes), rank 3 not
/// there".
std::string describe_instance(transports::shm::Channel& channel, std::uint32_t instance);

/// Name of a predefined operation by its identity in Reduction::operation; empty for 0.
std::string_view operation_name(std::uint8_t operation);

}  // namespace hocket::engine
