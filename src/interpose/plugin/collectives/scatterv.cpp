#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int scatterv(const void* in, const N* counts, const Displacement<N>* displacements, MPI_Datatype in_type,
             void* out, N out_count, MPI_Datatype out_type, int root, MPI_Comm comm) try {
  const auto native =
      HOCKET_NATIVE(Scatterv, in, at_root<N>(counts, root, comm), at_root<N>(displacements, root, comm),
                    in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::scatterv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  Scatterv<N> call(*c, c->sides);
  if (!call.describe(in, counts, displacements, in_type, out, out_count, out_type, root))
    return leave(*c, Function::scatterv, native);
  return run(*c, call, native);
}
HOCKET_EDGE(Function::scatterv)

HOCKET_BOTH_FORMS(scatterv)

}  // namespace hocket::interpose
