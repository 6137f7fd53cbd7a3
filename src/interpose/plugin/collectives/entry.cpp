#include "interpose/plugin/collectives/entry.hpp"

#include <atomic>

#include "engine/function_table.hpp"

namespace hocket::interpose {

void count_left(Communicator& c, engine::Called called, std::string_view reason) noexcept {
  auto*& row = c.left[static_cast<std::size_t>(called.form)][static_cast<std::size_t>(called.function)];
  try {
    if (!row) row = process.engine->report().row(called, 0, "native", reason);
    // Communicators share it, and threads may be in several of them.
    std::atomic_ref(row->calls).fetch_add(1, std::memory_order_relaxed);
  } catch (...) {  // no memory for a counter: not worth an error
  }
}

bool is_revoked(Communicator& c, Function function) noexcept {
  int revoked = 0;
  host().Comm_is_revoked(c.handle, &revoked);
  if (revoked) leave_to_mpi(c, function, "the communicator is revoked");
  return revoked != 0;
}

namespace {

/// The others may be in the call already, and wait for this rank.
void end_for_all(MPI_Comm comm, engine::Called called, const std::string& reason) {
  const Communicator* c = find_communicator(comm);
  if (c && c->engine) c->engine->give_up(engine::mpi_name_of(called) + " cannot go on: " + reason);
}

}  // namespace

int give_up(MPI_Comm comm, engine::Called called, const char* reason) {
  end_for_all(comm, called, reason);
  return raise_error(comm, reason);
}

int give_up(MPI_Comm comm, engine::Called called, const MpiFailure& failure) {
  end_for_all(comm, called, "one of the ranks could not pack or unpack its data");
  return failure.code;
}

Communicator* enter_slowly(Communicator& c, engine::Called called) {
  if (!c.settled) settle(c);
  if (c.failed) throw Error("this rank could not open a communicator: " + c.why_not);
  if (c.engine) return &c;
  if (process.reporting) count_left(c, called, c.why_not);
  return nullptr;
}

Communicator* enter_start_slowly(Communicator& c, Function function) {
  const engine::Called called(function, engine::Form::nonblocking);
  if (c.settled || c.opens_anywhere) return enter_slowly(c, called);
  if (process.reporting)
    count_left(c, called, "non-blocking, before the first blocking call on the communicator");
  return nullptr;
}

}  // namespace hocket::interpose
