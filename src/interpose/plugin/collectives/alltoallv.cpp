#include "interpose/plugin/collectives/blocks.hpp"
#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

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
  const bool in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::alltoallv, native); };
  const std::optional<Type> received = type_of(out_type);
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (!sent || !received || !out_counts || !out_displacements) return odd();
  if (!in_place && (!in_counts || !in_displacements)) return odd();

  const UserBlocks<N> from_all{out, out_counts, out_displacements, *received, comm};
  const UserBlocks<N> to_all{in_place ? out : in, in_place ? out_counts : in_counts,
                             in_place ? out_displacements : in_displacements, *sent, comm};
  BlockLayout receives = block_layout(c->received_layout, c->size);
  BlockLayout sends = block_layout(c->sent_layout, c->size);
  if (!lay_out(receives, c->size, out_counts, out_displacements, *received) ||
      !lay_out(sends, c->size, to_all.counts, to_all.displacements, *sent))
    return odd();
  if (sends.sizes[c->rank] != receives.sizes[c->rank]) return odd();
  if (!in_place && is_aliased_error(in, out, sends.total)) return odd();
  if ((sent->plain && !is_buffer(to_all.buffer, sends.total)) ||
      (received->plain && !is_buffer(out, receives.total)))
    return odd();

  Call call;
  call.function = Function::alltoallv;
  call.collective = ir::Collective::alltoall;
  call.input_blocks = sends.blocks();
  call.output_blocks = receives.blocks();
  call.input = bytes_of_blocks(to_all, sends, c->size, c->sent);
  call.output = landing_of_blocks(from_all, receives, c->received);
  call.in_place = call.input == call.output;
  return finish(*c, c->engine->run(call), native,
                [&] { return deliver_blocks(call.output, from_all, receives, c->size); });
}
HOCKET_EDGE(alltoallv)

HOCKET_BOTH_FORMS(alltoallv)

}  // namespace hocket::interpose
