#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int allgather(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
              MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Allgather, in, in_count, in_type, out, out_count, out_type, comm);
  Communicator* c = enter(comm, Function::allgather, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::allgather,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const auto* call = find_repeat(*c, shape, in, out))
    if (const Outcome outcome = c->engine->repeat(*call, in, out, false); outcome != Outcome::forgotten)
      return finish(*c, outcome, native);
  const bool in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::allgather, native); };
  const std::optional<Type> received = type_of(out_type);
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (in_place) in_count = out_count;
  if (!sent || !received || in_count < 0 || out_count < 0) return odd();

  const Elements own{*sent, static_cast<std::size_t>(in_count), comm};
  const Elements all{*received, static_cast<std::size_t>(out_count) * static_cast<std::size_t>(c->size),
                     comm};
  const auto* own_place = static_cast<const std::byte*>(out) +
                          static_cast<std::ptrdiff_t>(out_count) * received->extent * c->rank;
  if (all.bytes() != own.bytes() * static_cast<std::size_t>(c->size)) return odd();
  if (!in_place && is_aliased_error(in, own_place, own.bytes())) return odd();
  if ((sent->plain && !in_place && !is_buffer(in, own.bytes())) ||
      (received->plain && !is_buffer(out, all.bytes())))
    return odd();

  Call call;
  call.function = Function::allgather;
  call.collective = ir::Collective::allgather;
  call.agreed_bytes = call.own_bytes = call.output_blocks.size = own.bytes();
  call.output = landing(out, all, c->received);
  call.in_place = received->plain && (in_place || in == own_place);
  call.input = call.in_place ? call.output : bytes_of(in_place ? own_place : in, own, c->sent);
  return finish(*c, run(*c, shape, call, !in_place && sent->plain && received->plain), native,
                [&] { return deliver(call.output, out, all); });
}
HOCKET_EDGE(allgather)

HOCKET_BOTH_FORMS(allgather)

}  // namespace hocket::interpose
