#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
int bcast(void* buffer, N count, MPI_Datatype type_handle, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Bcast, buffer, count, type_handle, root, comm);
  Communicator* c = enter(comm, Function::bcast, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::bcast, .root = root, .count = count, .type = type_handle};
  if (const auto* call = buffer ? c->repeats.find(shape) : nullptr)
    if (const Outcome outcome = c->engine->repeat(*call, buffer, buffer, true); outcome != Outcome::forgotten)
      return finish(*c, outcome, native);
  const std::optional<Type> type = type_of(type_handle);
  if (!type || count < 0 || !is_rank(*c, root)) return leave(*c, Function::bcast, native);
  const Elements elements{*type, static_cast<std::size_t>(count), comm};
  if (type->plain && !is_buffer(buffer, elements.bytes())) return leave(*c, Function::bcast, native);

  const bool sends = c->rank == root;
  void* bytes =
      sends ? const_cast<void*>(bytes_of(buffer, elements, c->sent)) : landing(buffer, elements, c->received);
  Call call;
  call.function = Function::bcast;
  call.collective = ir::Collective::bcast;
  call.root = root;
  call.input = call.output = bytes;
  call.in_place = true;
  call.agreed_bytes = call.own_bytes = elements.bytes();
  return finish(*c, run(*c, shape, call, type->plain), native,
                [&] { return sends ? MPI_SUCCESS : deliver(bytes, buffer, elements); });
}
HOCKET_EDGE(bcast)

HOCKET_BOTH_FORMS(bcast)

}  // namespace hocket::interpose
