// The marks that each rank leaves in shared memory: which call its instance is. Written always, read when
// something is late or wrong.
#pragma once

#include <optional>
#include <string>

#include "engine/call.hpp"
#include "engine/decision.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine {

struct CallMark {
  Called called = Function::other;
  std::uint8_t operation = 0;
  bool native = false;  ///< run by the MPI
  Rank root = 0;
  std::size_t bytes = 0;
  bool operator==(const CallMark&) const = default;

  static CallMark of(const CallKind& kind, bool native = false) noexcept {
    return {{kind.function, kind.form}, kind.operation, native, kind.root, kind.bytes};
  }

  /// What fits one word, with the instance that tells marks of the same place apart.
  std::uint64_t packed(std::uint32_t instance) const noexcept {
    return static_cast<std::uint64_t>(instance) << 32U | static_cast<std::uint64_t>(called.form) << 24U |
           static_cast<std::uint64_t>(native) << 16U | static_cast<std::uint64_t>(operation) << 8U |
           static_cast<std::uint64_t>(called.function);
  }

  static CallMark unpacked(std::uint64_t call, Rank root, std::size_t bytes) noexcept {
    return {{static_cast<Function>(call & 0xffU), static_cast<Form>(call >> 24U & 0xffU)},
            static_cast<std::uint8_t>(call >> 8U & 0xffU),
            (call >> 16U & 1U) != 0,
            root,
            bytes};
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

/// What the ranks of a communicator have called, from the marks of one of its channels and of the one beside
/// it: its blocking calls and its non-blocking ones come in one order on all ranks, but are numbered apart.
class MarkedCalls {
 public:
  void watch(transports::shm::Channel& channel) noexcept { channel_ = &channel; }
  void watch_beside(transports::shm::Channel& channel) noexcept { beside_ = &channel; }

  /// The peer's call of this rank's last number is another one, or comes after one that this rank has not
  /// made.
  bool differ(Rank peer) const noexcept;
  /// The earliest call in which ranks differ, as far as marks are still there; else this one.
  std::uint32_t first_difference(std::uint32_t call) const noexcept;
  /// Some rank's mark of it is there.
  bool is_marked(std::uint32_t call) const noexcept;
  /// What all ranks have called, equal ones together: "ranks 0-2: MPI_Allreduce(8 bytes); rank 3: not there
  /// yet".
  std::string describe(std::uint32_t call) const;

 private:
  std::optional<CallMark> of(Rank rank, std::uint32_t call) const noexcept;
  std::optional<CallMark> instead_of(Rank rank, std::uint32_t call) const noexcept;

  transports::shm::Channel* channel_ = nullptr;
  transports::shm::Channel* beside_ = nullptr;  ///< null: none, or not opened yet
};

/// Name of a predefined operation by its identity in Reduction::operation; empty for 0.
std::string_view operation_name(std::uint8_t operation);

}  // namespace hocket::engine
