#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/gathered_blocks.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

template <class N>
int gather(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
           int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Gather, in, in_count, in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::gather, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::gather,
                        .root = root,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  GatheredBlocks<EqualBlocks> blocks(*c, Function::gather, ir::Collective::gather, root);
  if (!blocks.prepare(Part<N>{in, in_count, in_type}, Part<N>{out, out_count, out_type}))
    return leave(*c, Function::gather, native);
  return run(*c, shape, blocks, native);
}
HOCKET_EDGE(gather)

HOCKET_BOTH_FORMS(gather)

}  // namespace hocket::interpose
