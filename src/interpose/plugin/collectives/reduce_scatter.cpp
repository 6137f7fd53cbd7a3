#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int reduce_scatter(const void* in, void* out, const N* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Reduce_scatter, in, out, counts, type, op, comm);
  Communicator* c = enter(comm, Function::reduce_scatter, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  ReduceScatter<N> call(*c, c->sides);
  if (!call.describe(in, out, counts, type, op)) return leave(*c, Function::reduce_scatter, native);
  return run(*c, call, native);
}
HOCKET_EDGE(Function::reduce_scatter)

HOCKET_BOTH_FORMS(reduce_scatter)

}  // namespace hocket::interpose
