// Calls that a communicator has run, as the program wrote them: the same call with other buffers is repeated
// without looking types, operations and selection up again. Programs call the same few collectives over and
// over.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "engine/call.hpp"
#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// What the program wrote, without the buffers. Unused members stay zero.
struct CallShape {
  engine::Function function = engine::Function::other;
  int root = 0;
  long long count = 0;
  MPI_Datatype type{};
  long long second_count = 0;  ///< of the receive side, where there are two
  MPI_Datatype second_type{};
  MPI_Op op{};
  bool operator==(const CallShape&) const = default;
};

class Repeats {
 public:
  /// Null: describe the call and run it.
  const engine::Repeatable* find(const CallShape& shape) noexcept {
    const std::uint32_t epoch = type_epoch.load(std::memory_order_relaxed);
    if (const Entry* entry = entries_ ? &(*entries_)[place_of(shape)] : nullptr;
        entry && entry->epoch == epoch && entry->shape == shape && entry->call.decision)
      return &entry->call;
    epoch_before_ = epoch;
    return nullptr;
  }
  /// What find() did not find. Without memory the call is described again next time.
  void keep(const CallShape& shape, const engine::Repeatable& call) noexcept {
    if (!entries_) entries_.reset(new (std::nothrow) Entries);
    if (entries_) (*entries_)[place_of(shape)] = {shape, epoch_before_, call};
  }

 private:
  struct Entry {
    CallShape shape;
    std::uint32_t epoch = 0;
    engine::Repeatable call;
  };
  using Entries = std::array<Entry, 64>;

  static std::size_t place_of(const CallShape& s) noexcept {
    const auto count = static_cast<std::uint64_t>(s.count);
    return (static_cast<std::size_t>(s.function) * 4 + (count ^ count >> 4U ^ count >> 9U) % 4) % 64;
  }

  std::unique_ptr<Entries> entries_;
  std::uint32_t epoch_before_ =
      0;  ///< before a call's types were looked up: another thread may free them since
};

}  // namespace hocket::interpose
