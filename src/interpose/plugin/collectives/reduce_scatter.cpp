#include "interpose/plugin/collectives/block_layout.hpp"
#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/reduced_blocks.hpp"

namespace hocket::interpose {

template <class N>
int reduce_scatter(const void* in, void* out, const N* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Reduce_scatter, in, out, counts, type, op, comm);
  Communicator* c = enter(comm, Function::reduce_scatter, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  ReducedBlocks blocks(*c, Function::reduce_scatter);
  BlockLayout layout(c->sent.layout, c->size);
  if (!counts || !blocks.prepare(type, op) || !layout.measure(counts, blocks.unit()))
    return leave(*c, Function::reduce_scatter, native);
  layout.line_up();
  blocks.call().input_blocks = layout.blocks();
  blocks.call().agreed_bytes = layout.total();
  if (!blocks.place(in, out, layout.total() / blocks.unit(), static_cast<std::size_t>(counts[c->rank])))
    return leave(*c, Function::reduce_scatter, native);
  return run(*c, blocks, native);
}
HOCKET_EDGE(reduce_scatter)

HOCKET_BOTH_FORMS(reduce_scatter)

}  // namespace hocket::interpose
