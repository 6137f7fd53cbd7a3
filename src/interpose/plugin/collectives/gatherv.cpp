#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int gatherv(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
            const Displacement<N>* displacements, MPI_Datatype out_type, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Gatherv, in, in_count, in_type, out, at_root<N>(counts, root, comm),
                                    at_root<N>(displacements, root, comm), out_type, root, comm);
  Communicator* c = enter(comm, Function::gatherv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  Gatherv<N> call(*c, c->sides);
  if (!call.describe(in, in_count, in_type, out, counts, displacements, out_type, root))
    return leave(*c, Function::gatherv, native);
  return run(*c, call, native);
}
HOCKET_EDGE(Function::gatherv)

HOCKET_BOTH_FORMS(gatherv)

}  // namespace hocket::interpose
