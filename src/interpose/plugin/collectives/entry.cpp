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

Communicator* enter_slowly(Communicator& c, Function function) noexcept {
  if (!c.settled) settle(c);
  if (c.engine) return &c;
  if (process.reporting) count_left(c, function);
  return nullptr;
}

}  // namespace hocket::interpose
