#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/scattered_blocks.hpp"

namespace hocket::interpose {

template <class N>
int scatterv(const void* in, const N* counts, const Displacement<N>* displacements, MPI_Datatype in_type,
             void* out, N out_count, MPI_Datatype out_type, int root, MPI_Comm comm) try {
  const auto native =
      HOCKET_NATIVE(Scatterv, in, at_root<N>(counts, root, comm), at_root<N>(displacements, root, comm),
                    in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::scatterv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  ScatteredBlocks<UnequalBlocks<N>> blocks(*c, Function::scatterv, root);
  if (!blocks.prepare(Parts<N>{in, counts, displacements, in_type}, Part<N>{out, out_count, out_type}))
    return leave(*c, Function::scatterv, native);
  return run(*c, blocks, native);
}
HOCKET_EDGE(scatterv)

HOCKET_BOTH_FORMS(scatterv)

}  // namespace hocket::interpose
