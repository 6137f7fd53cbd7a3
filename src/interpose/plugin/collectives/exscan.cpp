#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/reduced_vector.hpp"

namespace hocket::interpose {

// Rank 0 receives nothing: its receive buffer stays as it is.
template <class N>
int exscan(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Exscan, in, out, count, type, op, comm);
  Communicator* c = enter(comm, Function::exscan, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::exscan, .root = 0, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  const bool receives = c->rank > 0 || in == MPI_IN_PLACE;
  ReducedVector vector(*c, Function::exscan, ir::Collective::exscan);
  if (!vector.prepare(in, out, count, type, op, 0, receives)) return leave(*c, Function::exscan, native);
  return run(*c, shape, vector, native);
}
HOCKET_EDGE(exscan)

HOCKET_BOTH_FORMS(exscan)

}  // namespace hocket::interpose
