#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/sides.hpp"

namespace hocket::interpose {

template <class N>
int bcast(void* buffer, N count, MPI_Datatype type, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Bcast, buffer, count, type, root, comm);
  Communicator* c = enter(comm, Function::bcast, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::bcast, .root = root, .count = count, .type = type};
  if (const Outcome outcome = buffer ? repeat(*c, shape, buffer, buffer, true) : Outcome::forgotten;
      outcome != Outcome::forgotten)
    return finish(*c, outcome, native);

  const bool sends = c->rank == root;
  Side& side = sends ? c->sent : c->received;
  Block block;
  if (!is_rank(*c, root) || !block.open(Part<N>{buffer, count, type}, *c, side) || !block.is_there())
    return leave(*c, Function::bcast, native);

  Call call;
  call.function = Function::bcast;
  call.collective = ir::Collective::bcast;
  call.root = root;
  call.output = sends ? const_cast<void*>(block.packed(side.image)) : block.landing(side.image);
  call.input = call.output;
  call.in_place = true;
  call.agreed_bytes = call.own_bytes = block.bytes();
  return finish(*c, run(*c, shape, call, block.is_plain()), native,
                [&] { return sends ? MPI_SUCCESS : block.deliver(call.output); });
}
HOCKET_EDGE(bcast)

HOCKET_BOTH_FORMS(bcast)

}  // namespace hocket::interpose
