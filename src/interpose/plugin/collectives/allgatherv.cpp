#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int allgatherv(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
               const Displacement<N>* displacements, MPI_Datatype out_type, MPI_Comm comm) try {
  const auto native =
      HOCKET_NATIVE(Allgatherv, in, in_count, in_type, out, counts, displacements, out_type, comm);
  Communicator* c = enter(comm, Function::allgatherv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  Allgatherv<N> call(*c, c->sides);
  if (!call.describe(in, in_count, in_type, out, counts, displacements, out_type))
    return leave(*c, Function::allgatherv, native);
  return run(*c, call, native);
}
HOCKET_EDGE(Function::allgatherv)

HOCKET_BOTH_FORMS(allgatherv)

}  // namespace hocket::interpose
