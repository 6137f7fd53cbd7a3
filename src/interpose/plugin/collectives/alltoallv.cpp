#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int alltoallv(const void* in, const N* in_counts, const Displacement<N>* in_displacements,
              MPI_Datatype in_type, void* out, const N* out_counts, const Displacement<N>* out_displacements,
              MPI_Datatype out_type, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Alltoallv, in, in == MPI_IN_PLACE ? nullptr : in_counts,
                                    in == MPI_IN_PLACE ? nullptr : in_displacements, in_type, out, out_counts,
                                    out_displacements, out_type, comm);
  Communicator* c = enter(comm, Function::alltoallv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  Alltoallv<N> call(*c, c->sides);
  if (!call.describe(in, in_counts, in_displacements, in_type, out, out_counts, out_displacements, out_type))
    return leave(*c, Function::alltoallv, native);
  return run(*c, call, native);
}
HOCKET_EDGE(Function::alltoallv)

HOCKET_BOTH_FORMS(alltoallv)

}  // namespace hocket::interpose
