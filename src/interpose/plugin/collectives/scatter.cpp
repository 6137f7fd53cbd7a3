#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int scatter(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
            int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Scatter, in, in_count, in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::scatter, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::scatter,
                        .root = root,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const auto* call = find_repeat(*c, shape, in, out))
    if (const Outcome outcome = c->engine->repeat(*call, in, out, false); outcome != Outcome::forgotten)
      return finish(*c, outcome, native);
  const bool sends = c->rank == root, in_place = out == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::scatter, native); };
  if (!is_rank(*c, root) || (in_place && !sends)) return odd();
  const std::optional<Type> sent = sends ? type_of(in_type) : std::nullopt;
  const std::optional<Type> received = in_place ? sent : type_of(out_type);
  if (in_place) out_count = in_count;
  if (!received || (sends && !sent) || out_count < 0 || (sends && in_count < 0)) return odd();

  const Elements own{*received, static_cast<std::size_t>(out_count), comm};
  const Elements all{sends ? *sent : *received,
                     sends ? static_cast<std::size_t>(in_count) * static_cast<std::size_t>(c->size) : 0,
                     comm};
  if (sends && all.bytes() != own.bytes() * static_cast<std::size_t>(c->size)) return odd();
  if (sends && !in_place && is_aliased_error(in, out, own.bytes())) return odd();
  if ((received->plain && !in_place && !is_buffer(out, own.bytes())) ||
      (sends && sent->plain && !is_buffer(in, all.bytes())))
    return odd();

  Call call;
  call.function = Function::scatter;
  call.collective = ir::Collective::scatter;
  call.root = root;
  call.agreed_bytes = call.own_bytes = call.input_blocks.size = own.bytes();
  call.input = sends ? bytes_of(in, all, c->sent) : nullptr;
  call.in_place = in_place;
  call.output = in_place ? const_cast<void*>(call.input) : landing(out, own, c->received);
  return finish(*c, run(*c, shape, call, !in_place && received->plain && (!sends || sent->plain)), native,
                [&] { return in_place ? MPI_SUCCESS : deliver(call.output, out, own); });
}
HOCKET_EDGE(scatter)

HOCKET_BOTH_FORMS(scatter)

}  // namespace hocket::interpose
