// What a caller has posted: reductions and broadcasts, one behind the other, that end together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sharp/element_types.hpp"

namespace hocket::sharp {

class Communicator;

/// One reduction or broadcast, or a piece of it.
struct Part {
  const std::byte* source = nullptr;  ///< null: this rank contributes nothing
  std::byte* target = nullptr;        ///< null: it does not want the result
  std::uint64_t bytes = 0;

  Part piece(std::uint64_t offset, std::uint64_t length) const noexcept {
    return {source ? source + offset : nullptr, target ? target + offset : nullptr, length};
  }
};

struct Request {
  /// Of `outcome`; others are errors, or `done`.
  static constexpr int pending = 0, done = 1;

  Communicator* communicator = nullptr;  ///< there while it is pending
  Reduction reduction;
  sharp_aggregation_mode mode = SHARP_AGGREGATION_NONE;
  std::vector<Part> parts;

  // how far it has got
  bool is_decided = false, streams = false;  ///< its mode
  int refusal = SHARP_COLL_SUCCESS;          ///< of the lock that it cannot do without
  std::size_t part = 0;                      ///< the next to start,
  std::uint64_t offset = 0;                  ///< from here on
  std::uint32_t running = 0;                 ///< operations that are started and not over
  std::atomic<int> outcome = pending;
  bool is_orphan = false;  ///< its caller has freed it

  bool is_started() const noexcept { return part == parts.size(); }
  std::uint64_t bytes() const noexcept {
    std::uint64_t all = 0;
    for (const Part& one : parts) all += one.bytes;
    return all;
  }

  /// It may be gone after that.
  void end(int how) noexcept {
    if (is_orphan)
      delete this;
    else
      outcome.store(how, std::memory_order_release);
  }
};

}  // namespace hocket::sharp
