#include "interpose/plugin/collectives/blocks.hpp"
#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int gatherv(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
            const Displacement<N>* displacements, MPI_Datatype out_type, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Gatherv, in, in_count, in_type, out, at_root<N>(counts, root, comm),
                                    at_root<N>(displacements, root, comm), out_type, root, comm);
  Communicator* c = enter(comm, Function::gatherv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const bool receives = c->rank == root, in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::gatherv, native); };
  if (!is_rank(*c, root) || (in_place && !receives)) return odd();
  const std::optional<Type> received = receives ? type_of(out_type) : std::nullopt;
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (!sent || (receives && (!received || !counts || !displacements))) return odd();
  if (in_place) in_count = counts[c->rank];
  if (in_count < 0) return odd();

  const Elements own{*sent, static_cast<std::size_t>(in_count), comm};
  const UserBlocks<N> user{out, counts, displacements, receives ? *received : *sent, comm};
  BlockLayout layout;
  if (receives) {
    layout = block_layout(c->received_layout, c->size);
    if (!lay_out(layout, c->size, counts, displacements, *received)) return odd();
    if (layout.sizes[c->rank] != own.bytes()) return odd();
    if (!in_place && is_aliased_error(in, user.place(c->rank), own.bytes())) return odd();
    if (received->plain && !is_buffer(out, layout.total)) return odd();
  }
  if (sent->plain && !in_place && !is_buffer(in, own.bytes())) return odd();

  Call call;
  call.function = Function::gatherv;
  call.collective = ir::Collective::gather;
  call.root = root;
  call.own_bytes = own.bytes();
  call.output_blocks = layout.blocks();
  call.output = receives ? landing_of_blocks(user, layout, c->received) : nullptr;
  call.in_place = in_place && received->plain;
  if (call.in_place)
    call.input = call.output;
  else
    call.input = bytes_of(in_place ? user.place(c->rank) : in, own, c->sent);
  return finish(*c, c->engine->run(call), native,
                [&] { return receives ? deliver_blocks(call.output, user, layout, c->size) : MPI_SUCCESS; });
}
HOCKET_EDGE(gatherv)

HOCKET_BOTH_FORMS(gatherv)

}  // namespace hocket::interpose
