#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

namespace {

template <class N>
const void* own_block(const void* buffer, N count, const Type& type, int rank) {
  return static_cast<const std::byte*>(buffer) + static_cast<std::ptrdiff_t>(count) * type.extent * rank;
}

}  // namespace

template <class N>
int gather(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count, MPI_Datatype out_type,
           int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Gather, in, in_count, in_type, out, out_count, out_type, root, comm);
  Communicator* c = enter(comm, Function::gather, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::gather,
                        .root = root,
                        .count = in_count,
                        .type = in_type,
                        .second_count = out_count,
                        .second_type = out_type};
  if (const auto* call = find_repeat(*c, shape, in, out))
    if (const Outcome outcome = c->engine->repeat(*call, in, out, false); outcome != Outcome::forgotten)
      return finish(*c, outcome, native);
  const bool receives = c->rank == root, in_place = in == MPI_IN_PLACE;
  const auto odd = [&] { return leave(*c, Function::gather, native); };
  if (!is_rank(*c, root) || (in_place && !receives)) return odd();
  const std::optional<Type> received = receives ? type_of(out_type) : std::nullopt;
  const std::optional<Type> sent = in_place ? received : type_of(in_type);
  if (in_place) in_count = out_count;
  if (!sent || (receives && !received) || in_count < 0 || (receives && out_count < 0)) return odd();

  const Elements own{*sent, static_cast<std::size_t>(in_count), comm};
  const Elements all{receives ? *received : *sent,
                     receives ? static_cast<std::size_t>(out_count) * static_cast<std::size_t>(c->size) : 0,
                     comm};
  if (receives && all.bytes() != own.bytes() * static_cast<std::size_t>(c->size)) return odd();
  if (receives && !in_place && is_aliased_error(in, out, own.bytes())) return odd();
  if ((sent->plain && !in_place && !is_buffer(in, own.bytes())) ||
      (receives && received->plain && !is_buffer(out, all.bytes())))
    return odd();

  Call call;
  call.function = Function::gather;
  call.collective = ir::Collective::gather;
  call.root = root;
  call.agreed_bytes = call.own_bytes = call.output_blocks.size = own.bytes();
  call.output = receives ? landing(out, all, c->received) : nullptr;
  call.in_place = in_place && received->plain;
  if (call.in_place)
    call.input = call.output;
  else
    call.input = bytes_of(in_place ? own_block(out, out_count, *received, c->rank) : in, own, c->sent);
  return finish(*c, run(*c, shape, call, !in_place && sent->plain && (!receives || received->plain)), native,
                [&] { return receives ? deliver(call.output, out, all) : MPI_SUCCESS; });
}
HOCKET_EDGE(gather)

HOCKET_BOTH_FORMS(gather)

}  // namespace hocket::interpose
