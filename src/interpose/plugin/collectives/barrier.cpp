#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

int barrier(MPI_Comm comm) try {
  const auto native = [&] { return host().small.Barrier(comm); };
  Communicator* c = enter(comm, Function::barrier, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  return finish(*c, c->engine->run(Call{}), native);
}
HOCKET_EDGE(Function::barrier)

}  // namespace hocket::interpose
