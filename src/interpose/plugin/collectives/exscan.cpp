#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int exscan(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Exscan, in, out, count, type, op, comm);
  Communicator* c = enter(comm, Function::exscan, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::exscan, .root = 0, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Exscan<N> call(*c, c->sides);
  if (!call.describe(in, out, count, type, op)) return leave(*c, Function::exscan, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::exscan)

HOCKET_BOTH_FORMS(exscan)

}  // namespace hocket::interpose
