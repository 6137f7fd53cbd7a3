// The way in and out of a collective: is it ours, and what came of it. What is decided here is the same on
// all ranks of a communicator, except for calls whose arguments are wrong: those go to the MPI, which raises
// its own errors.
#pragma once

#include "base/error.hpp"
#include "engine/call.hpp"
#include "interpose/plugin/communicators.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/mpi_abi.hpp"
#include "interpose/plugin/packing.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {

using engine::Call;
using engine::Function;
using engine::Outcome;

/// First use of a communicator, and the counting of what is left to the MPI. Null: leave the call to the MPI.
/// Throws when opening has failed on this rank: the others may run the call.
Communicator* enter_slowly(Communicator& communicator, engine::Called called);

/// A revoked communicator (user-level failure mitigation) is the MPI's: it raises MPI_ERR_REVOKED.
bool is_revoked(Communicator& communicator, Function function) noexcept;

/// The communicator if the engine may run this call, else null.
inline Communicator* enter(MPI_Comm comm, Function function, const void* return_address) {
  if (!process.on.load(std::memory_order_relaxed)) return nullptr;
  if (process.stage0->caller_is_mpi(return_address)) return nullptr;
  Communicator* c = find_communicator(comm);
  if (!c) return nullptr;
  if (!c->engine && !enter_slowly(*c, function)) return nullptr;
  return host().Comm_is_revoked && is_revoked(*c, function) ? nullptr : c;
}

/// The same for a call that must not wait: a communicator that has not been opened is opened only where that
/// waits for nobody, else left to the MPI. Both the same on all ranks, which make the communicator's calls in
/// the same order.
Communicator* enter_start_slowly(Communicator& communicator, Function function);

inline Communicator* enter_start(MPI_Comm comm, Function function, const void* return_address) {
  if (!process.on.load(std::memory_order_relaxed)) return nullptr;
  if (process.stage0->caller_is_mpi(return_address)) return nullptr;
  Communicator* c = find_communicator(comm);
  if (!c) return nullptr;
  if (!c->engine && !enter_start_slowly(*c, function)) return nullptr;
  return host().Comm_is_revoked && is_revoked(*c, function) ? nullptr : c;
}

/// This rank cannot take part in a call that the others may be in already: ends the communicator for all.
/// Returns the code.
int give_up(MPI_Comm comm, engine::Called called, const char* reason);
int give_up(MPI_Comm comm, engine::Called called, const MpiFailure& failure);

/// For the report: a call that is left to the MPI.
void count_left(Communicator& c, engine::Called called, std::string_view reason) noexcept;

/// A call that the engine is not asked about. Leaves the mark that other ranks see if they wait for this one.
inline void leave_to_mpi(Communicator& c, Function function, std::string_view reason) noexcept {
  c.engine->mark_native(function);
  if (process.reporting) [[unlikely]]
    count_left(c, function, reason);
}

/// The same, for a call with an argument, a type or an operation that is the MPI's to judge.
template <class Native>
int leave(Communicator& c, Function function, Native native) {
  leave_to_mpi(c, function, "a type or an operation that Hocket does not run, or a wrong argument");
  return native();
}

/// What the program gets. `deliver` brings received data to their place; it returns an MPI error code.
template <class Native, class Deliver>
int finish(Communicator& c, Outcome outcome, Native native, Deliver deliver) {
  if (outcome == Outcome::done) [[likely]] {
    return deliver();
  }
  if (outcome == Outcome::native) return native();
  if (outcome == Outcome::error) return raise_error(c.handle, c.engine->error());
  const int result = is_done(outcome) ? deliver() : native();
  c.engine->ended();
  return result;
}
template <class Native>
int finish(Communicator& c, Outcome outcome, Native native) {
  return finish(c, outcome, native, [] { return MPI_SUCCESS; });
}

/// The same call as before, with other buffers. `forgotten`: it has to be described.
inline Outcome repeat(Communicator& c, const CallShape& shape, const void* in, void* out, bool in_place) {
  const engine::Repeatable* call = c.repeats.find(shape);
  return call ? c.engine->repeat(*call, in, out, in_place) : Outcome::forgotten;
}

/// In-place calls and missing buffers are always described.
inline Outcome repeat(Communicator& c, const CallShape& shape, const void* in, void* out) {
  const bool plain = in != out && in && out && in != MPI_IN_PLACE && out != MPI_IN_PLACE;
  return plain ? repeat(c, shape, in, out, false) : Outcome::forgotten;
}

/// Its data are packed once it is known that the engine runs it.
template <class Described>
Outcome carry_out(Communicator& c, Described& described) {
  const Outcome begun = c.engine->begin(described.call());
  if (begun != Outcome::ours) return begun;
  described.pack();
  return c.engine->carry_out(described.call());
}

/// Runs a call whose sizes are described.
template <class Described, class Native>
int run(Communicator& c, Described& described, Native native) {
  const Outcome outcome = carry_out(c, described);
  return finish(c, outcome, native, [&] { return described.deliver(); });
}

/// The same; the next call of this shape may be a repetition, if its data lie in the program's buffers as
/// they are.
template <class Described, class Native>
int run(Communicator& c, const CallShape& shape, Described& described, Native native) {
  const Outcome outcome = carry_out(c, described);
  if (described.is_plain() && described.call().agreed_bytes != 0) {
    const engine::Repeatable repeatable = c.engine->repeatable();
    if (repeatable.decision) c.repeats.keep(shape, repeatable);
  }
  return finish(c, outcome, native, [&] { return described.deliver(); });
}

/// Counts and buffers that can be right.
inline bool is_rank(const Communicator& c, int rank) {
  return rank >= 0 && rank < c.size;
}
inline bool is_buffer(const void* buffer, std::size_t bytes) {
  return buffer != nullptr || bytes == 0;
}

}  // namespace hocket::interpose

/// What ends with Hocket's own exceptions becomes an error of the communicator `comm`. After an entry point's
/// function-try-block; `called` is an engine::Called.
#define HOCKET_EDGE(called)                                                \
  catch (const std::bad_alloc&) {                                          \
    return give_up(comm, called, "no memory for what a collective needs"); \
  }                                                                        \
  catch (const Error& e) {                                                 \
    return give_up(comm, called, e.what());                                \
  }                                                                        \
  catch (const MpiFailure& failure) {                                      \
    return give_up(comm, called, failure);                                 \
  }

#define HOCKET_RETURN_ADDRESS __builtin_extract_return_addr(__builtin_return_address(0))
