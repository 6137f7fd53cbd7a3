#include "interpose/plugin/collectives/blocks.hpp"
#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int allgatherv(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
               const Displacement<N>* displacements, MPI_Datatype out_type, MPI_Comm comm) try {
  const auto native =
      HOCKET_NATIVE(Allgatherv, in, in_count, in_type, out, counts, displacements, out_type, comm);
  Communicator* c = enter(comm, Function::allgatherv, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const bool in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::allgatherv, native); };
  const std::optional<Type> received = type_of(out_type);
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (!sent || !received || !counts || !displacements) return odd();
  if (in_place) in_count = counts[c->rank];
  if (in_count < 0) return odd();

  const Elements own{*sent, static_cast<std::size_t>(in_count), comm};
  const UserBlocks<N> user{out, counts, displacements, *received, comm};
  BlockLayout layout = block_layout(c->received_layout, c->size);
  if (!lay_out(layout, c->size, counts, displacements, *received)) return odd();
  if (layout.sizes[c->rank] != own.bytes()) return odd();
  if (!in_place && is_aliased_error(in, user.place(c->rank), own.bytes())) return odd();
  if ((sent->plain && !in_place && !is_buffer(in, own.bytes())) ||
      (received->plain && !is_buffer(out, layout.total)))
    return odd();

  Call call;
  call.function = Function::allgatherv;
  call.collective = ir::Collective::allgather;
  call.agreed_bytes = layout.total;
  call.own_bytes = own.bytes();
  call.output_blocks = layout.blocks();
  call.output = landing_of_blocks(user, layout, c->received);
  call.in_place = received->plain && (in_place || in == user.place(c->rank));
  call.input = call.in_place ? call.output : bytes_of(in_place ? user.place(c->rank) : in, own, c->sent);
  return finish(*c, c->engine->run(call), native,
                [&] { return deliver_blocks(call.output, user, layout, c->size); });
}
HOCKET_EDGE(allgatherv)

HOCKET_BOTH_FORMS(allgatherv)

}  // namespace hocket::interpose
