#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int allreduce(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Allreduce, in, out, count, type, op, comm);
  Communicator* c = enter(comm, Function::allreduce, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::allreduce, .root = 0, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Allreduce<N> call(*c, c->sides);
  if (!call.describe(in, out, count, type, op)) return leave(*c, Function::allreduce, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::allreduce)

HOCKET_BOTH_FORMS(allreduce)

}  // namespace hocket::interpose
