// One collective call as the engine sees it: bytes and blocks. The MPI edge has resolved handles, and packs
// derived types before the call is carried out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "executors/operation.hpp"

namespace hocket::engine {

using executors::Blocks;
using executors::Reduction;
using ir::Rank;

/// What the program called; the name in reports, options and error messages.
enum class Function : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  alltoallw,  // from here on: never run by Hocket, known by name so that reports and marks can say it
  neighbor,
  other,
};

/// Which form of it.
enum class Form : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t form_count = 3;

/// Both.
struct Called {
  Function function;
  Form form;
  constexpr Called(Function f, Form how = Form::blocking) noexcept  // NOLINT: most calls are blocking ones
      : function(f), form(how) {}
  bool operator==(const Called&) const = default;
};

inline constexpr std::size_t function_count = static_cast<std::size_t>(Function::other) + 1;

struct Call : executors::Operation {
  Function function = Function::barrier;
};

/// A reduction by the program's own function, which the MPI applies.
inline bool has_own_operation(const Call& call) noexcept {
  return ir::is_reduction(call.collective) && !call.reduction.kernel;
}

enum class Outcome : std::uint8_t {
  ours,  ///< only of begin(): carry_out() must follow
  done,
  done_timed,    ///< the same, and tell ended() when the data are where the program wants them
  native,        ///< leave this call to the MPI; the same on all ranks
  native_timed,  ///< the same, and tell ended() when it has returned
  error,         ///< see Communicator::error()
  forgotten,     ///< only of repeat(): the decision was given up meanwhile; use begin()
};

constexpr bool is_done(Outcome o) noexcept {
  return o == Outcome::done || o == Outcome::done_timed;
}
constexpr bool is_timed(Outcome o) noexcept {
  return o == Outcome::done_timed || o == Outcome::native_timed;
}

/// A call that was run before, to be run again with other buffers and without being described anew.
struct Repeatable {
  struct Decision* decision = nullptr;  ///< null: calls like the last one cannot be repeated
  std::uint32_t generation = 0;
  Reduction reduction;
};

}  // namespace hocket::engine
