#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int scatter(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
            int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Scatter, in, in_count, in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::scatter, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::scatter,
                        .root = root,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Scatter<N> call(*c, c->sides);
  if (!call.describe(in, in_count, in_type, out, out_count, out_type, root))
    return leave(*c, Function::scatter, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::scatter)

HOCKET_BOTH_FORMS(scatter)

}  // namespace hocket::interpose
