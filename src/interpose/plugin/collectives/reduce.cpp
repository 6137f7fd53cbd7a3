#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int reduce(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Reduce, in, out, count, type, op, root, comm);
  Communicator* c = enter(comm, Function::reduce, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::reduce, .root = root, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Reduce<N> call(*c, c->sides);
  if (!call.describe(in, out, count, type, op, root)) return leave(*c, Function::reduce, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::reduce)

HOCKET_BOTH_FORMS(reduce)

}  // namespace hocket::interpose
