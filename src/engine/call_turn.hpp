// Which call of a communicator: its number among those that come in the same order on all ranks.
#pragma once

#include <cstdint>

#include "engine/call_marks.hpp"
#include "transports/mpi/envelope.hpp"

namespace hocket::engine {

/// A call under way.
struct CallTurn {
  std::uint32_t number = 0;
  CallMark mark;

  /// From 1, of the blocking calls or of the started ones.
  std::uint32_t counted() const noexcept { return number & 0x7fffffffU; }
};

/// Calls that come in the same order on all ranks.
struct CallSequence {
  std::uint32_t number = 0;   ///< of calls so far, whoever ran them
  std::uint32_t history = 0;  ///< signatures of those that were run here, so that calls that differed while
                              ///< nobody exchanged anything are noticed later

  /// One bit is left: blocking calls, or not.
  std::uint32_t next() noexcept { return number = (number + 1) & 0x7fffffffU; }
  /// Of an operation that is started: blocking calls have the lower half of the numbers.
  std::uint32_t next_start() noexcept { return next() | 1U << 31U; }
  /// Of the last operation that was started; 0: none was.
  std::uint32_t last_start() const noexcept { return number == 0 ? 0 : number | 1U << 31U; }
  void add(std::uint32_t signature) noexcept { history = (history ^ signature) * 0x9e3779b1U; }
};

/// A call's mark as words on the wire, and back.
transports::mpi::CallWords words_of(const CallMark& mark) noexcept;
CallMark mark_in(const transports::mpi::CallWords& words) noexcept;

/// Under which the messages of a persistent request travel; 0: of the communicator's non-blocking operations.
transports::mpi::CommunicatorId id_of_starts(const transports::mpi::CommunicatorId& communicator,
                                             std::uint32_t request) noexcept;

}  // namespace hocket::engine
