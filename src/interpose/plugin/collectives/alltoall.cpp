#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int alltoall(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
             MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Alltoall, in, in_count, in_type, out, out_count, out_type, comm);
  Communicator* c = enter(comm, Function::alltoall, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::alltoall,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const auto* call = find_repeat(*c, shape, in, out))
    if (const Outcome outcome = c->engine->repeat(*call, in, out, false); outcome != Outcome::forgotten)
      return finish(*c, outcome, native);
  const bool in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::alltoall, native); };
  const std::optional<Type> received = type_of(out_type);
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (in_place) in_count = out_count;
  if (!sent || !received || in_count < 0 || out_count < 0) return odd();

  const auto ranks = static_cast<std::size_t>(c->size);
  const Elements to_all{*sent, static_cast<std::size_t>(in_count) * ranks, comm};
  const Elements from_all{*received, static_cast<std::size_t>(out_count) * ranks, comm};
  if (to_all.bytes() != from_all.bytes()) return odd();
  if (!in_place && is_aliased_error(in, out, to_all.bytes())) return odd();
  if ((sent->plain && !in_place && !is_buffer(in, to_all.bytes())) ||
      (received->plain && !is_buffer(out, from_all.bytes())))
    return odd();

  Call call;
  call.function = Function::alltoall;
  call.collective = ir::Collective::alltoall;
  call.agreed_bytes = call.own_bytes = call.input_blocks.size = call.output_blocks.size =
      to_all.bytes() / ranks;
  call.input = bytes_of(in_place ? out : in, to_all, c->sent);
  call.output = landing(out, from_all, c->received);
  call.in_place = call.input == call.output;
  return finish(*c, run(*c, shape, call, !in_place && sent->plain && received->plain), native,
                [&] { return deliver(call.output, out, from_all); });
}
HOCKET_EDGE(alltoall)

HOCKET_BOTH_FORMS(alltoall)

}  // namespace hocket::interpose
