// The proof that a schedule is right: all ranks' schedules of one operation are executed on symbols instead
// of data.
//
// Chunks hold expressions over leaves (rank, chunk), shared structurally, so that "the same expression" is
// one comparison. The verdict covers every message size, since schedules do not know sizes. Checked are
//  - windows, sizes chunk by chunk, that every message has its other half, that nobody writes an input or a
//  peer's memory;
//  - no use of undefined values; no deadlock, even when sends are synchronous;
//  - no hazard with a send or recv that is under way in the same round;
//  - one-sided accesses are ordered by signal and wait (vector clocks: Mattern 1989; the read check is
//  FastTrack's, Flanagan
//    and Freund 2009), and nobody ends while a peer may still read what it exposed;
//  - the outcome: exactly the right contributions in every chunk of every rank, in the right order where
//  order matters, and the
//    same expression, hence the same bits, on all ranks that get the same result.
// docs/design/0004-schedules-and-their-proof.md says what follows from it and what does not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ir/program.hpp"

namespace hocket::ir {

struct Expectation {
  bool in_place = false;  ///< the input is the output buffer, as MPI_IN_PLACE has it
  bool ranked = false;    ///< operands stay in the order of ranks
  Sizes sizes = Sizes::known;
};

struct Verdict {
  bool ok = true;
  std::string what;       ///< the first fault: rank, round, op, region
  std::uint64_t ops = 0;  ///< of all ranks
  std::uint64_t messages = 0;
  std::uint64_t expressions = 0;  ///< different partial results
  explicit operator bool() const { return ok; }
};

/// All ranks' schedules, in the order of ranks.
Verdict verify(std::span<const Schedule> schedules, const Expectation& expectation = {});
Verdict verify(Rank ranks, const std::function<Schedule(Rank)>& schedule_of,
               const Expectation& expectation = {});

}  // namespace hocket::ir
