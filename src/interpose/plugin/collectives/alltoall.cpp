#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int alltoall(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
             MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Alltoall, in, in_count, in_type, out, out_count, out_type, comm);
  Communicator* c = enter(comm, Function::alltoall, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::alltoall,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  Alltoall<N> call(*c, c->sides);
  if (!call.describe(in, in_count, in_type, out, out_count, out_type))
    return leave(*c, Function::alltoall, native);
  return run(*c, shape, call, native);
}
HOCKET_EDGE(Function::alltoall)

HOCKET_BOTH_FORMS(alltoall)

}  // namespace hocket::interpose
