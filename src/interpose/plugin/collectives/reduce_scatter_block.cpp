#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/reduced_blocks.hpp"

namespace hocket::interpose {

template <class N>
int reduce_scatter_block(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Reduce_scatter_block, in, out, count, type, op, comm);
  Communicator* c = enter(comm, Function::reduce_scatter_block, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::reduce_scatter_block, .count = count, .type = type, .op = op};
  if (const Outcome outcome = repeat(*c, shape, in, out); outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  ReducedBlocks blocks(*c, Function::reduce_scatter_block);
  const auto own = static_cast<std::size_t>(count);
  if (count < 0 || !blocks.prepare(type, op) ||
      !blocks.place(in, out, own * static_cast<std::size_t>(c->size), own))
    return leave(*c, Function::reduce_scatter_block, native);
  blocks.call().input_blocks.size = blocks.call().agreed_bytes = own * blocks.unit();
  return run(*c, shape, blocks, native);
}
HOCKET_EDGE(reduce_scatter_block)

HOCKET_BOTH_FORMS(reduce_scatter_block)

}  // namespace hocket::interpose
