#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int bcast(void* buffer, N count, MPI_Datatype type, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Bcast, buffer, count, type, root, comm);
  Communicator* c = enter(comm, Function::bcast, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::bcast, .root = root, .count = count, .type = type};
  if (const Outcome outcome = buffer ? repeat(*c, shape, buffer, buffer, true) : Outcome::forgotten;
      outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Bcast<N> call(*c, c->sides);
  if (!call.describe(buffer, count, type, root)) return leave(*c, Function::bcast, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::bcast)

HOCKET_BOTH_FORMS(bcast)

}  // namespace hocket::interpose
