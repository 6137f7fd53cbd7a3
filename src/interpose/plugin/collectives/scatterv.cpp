#include "interpose/plugin/collectives/blocks.hpp"
#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int scatterv(const void* in, const N* counts, const Displacement<N>* displacements, MPI_Datatype in_type,
             void* out, N out_count, MPI_Datatype out_type, int root, MPI_Comm comm) try {
  const auto native =
      HOCKET_NATIVE(Scatterv, in, at_root<N>(counts, root, comm), at_root<N>(displacements, root, comm),
                    in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::scatterv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const bool sends = c->rank == root, in_place = out == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::scatterv, native); };
  if (!is_rank(*c, root) || (in_place && !sends)) return odd();
  const std::optional<Type> sent = sends ? type_of(in_type) : std::nullopt;
  const std::optional<Type> received = in_place ? sent : type_of(out_type);
  if (!received || (sends && (!sent || !counts || !displacements))) return odd();
  if (in_place) out_count = counts[c->rank];
  if (out_count < 0) return odd();

  const Elements own{*received, static_cast<std::size_t>(out_count), comm};
  const UserBlocks<N> user{in, counts, displacements, sends ? *sent : *received, comm};
  BlockLayout layout;
  if (sends) {
    layout = block_layout(c->sent_layout, c->size);
    if (!lay_out(layout, c->size, counts, displacements, *sent)) return odd();
    if (layout.sizes[c->rank] != own.bytes()) return odd();
    if (!in_place && is_aliased_error(user.place(c->rank), out, own.bytes())) return odd();
    if (sent->plain && !is_buffer(in, layout.total)) return odd();
  }
  if (received->plain && !in_place && !is_buffer(out, own.bytes())) return odd();

  Call call;
  call.function = Function::scatterv;
  call.collective = ir::Collective::scatter;
  call.root = root;
  call.own_bytes = own.bytes();
  call.input_blocks = layout.blocks();
  call.input = sends ? bytes_of_blocks(user, layout, c->size, c->sent) : nullptr;
  call.in_place = in_place;
  call.output = in_place ? const_cast<void*>(call.input) : landing(out, own, c->received);
  return finish(*c, c->engine->run(call), native,
                [&] { return in_place ? MPI_SUCCESS : deliver(call.output, out, own); });
}
HOCKET_EDGE(scatterv)

HOCKET_BOTH_FORMS(scatterv)

}  // namespace hocket::interpose
