#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/reduced_vector.hpp"

namespace hocket::interpose {

template <class N>
int allreduce(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Allreduce, in, out, count, type, op, comm);
  Communicator* c = enter(comm, Function::allreduce, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::allreduce, .root = 0, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  ReducedVector vector(*c, Function::allreduce, ir::Collective::allreduce);
  if (!vector.prepare(in, out, count, type, op, 0, true)) return leave(*c, Function::allreduce, native);
  return run(*c, shape, vector, native);
}
HOCKET_EDGE(allreduce)

HOCKET_BOTH_FORMS(allreduce)

}  // namespace hocket::interpose
