#include "interpose/plugin/collectives/entry.hpp"

namespace hocket::interpose {
namespace {

void count_left(Communicator& c, Function function) noexcept {
  auto*& row = c.left[static_cast<std::size_t>(function)];
  try {
    if (!row) row = process.engine->report().row(function, 0, "native", c.why_not);
    ++row->calls;
  } catch (...) {  // no memory for a counter: not worth an error
  }
}

}  // namespace

bool is_revoked(Communicator& c, Function function) noexcept {
  int revoked = 0;
  host().Comm_is_revoked(c.handle, &revoked);
  if (revoked) c.engine->mark_native(function);
  return revoked != 0;
}

namespace {

void leave_other_mark(MPI_Comm comm, Function function) noexcept {
  const Communicator* c = find_communicator(comm);
  if (c && c->engine) c->engine->mark_native(function);
}

}  // namespace

int give_up(MPI_Comm comm, Function function, const char* reason) {
  leave_other_mark(comm, function);
  return raise_error(comm, reason);
}

int give_up(MPI_Comm comm, Function function, const MpiFailure& failure) {
  leave_other_mark(comm, function);
  return failure.code;
}

Communicator* enter_slowly(Communicator& c, Function function) {
  if (!c.settled) settle(c);
  if (c.failed) throw Error("this rank could not open a communicator: " + c.why_not);
  if (c.engine) return &c;
  if (process.reporting) count_left(c, function);
  return nullptr;
}

}  // namespace hocket::interpose
