// MPI sessions. Communicators made from groups are recognised by ranks in the process set mpi://WORLD.
#include <atomic>
#include <new>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/lifecycle.hpp"
#include "interpose/plugin/network/network.hpp"
#include "interpose/plugin/world_groups.hpp"

namespace hocket::interpose {
namespace {

std::atomic<int> sessions{0};

int session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) try {
  before_start();
  const int result = host().Session_init(info, errhandler, session);
  MPI_Group world;
  if (result != MPI_SUCCESS) return result;
  ++sessions;
  if (host().Group_from_session_pset(*session, "mpi://WORLD", &world) != MPI_SUCCESS) return result;
  keep_world_group(bits_of(*session), world);
  after_start(world);
  explain_missing_network();
  return result;
} catch (const std::bad_alloc&) {
  return MPI_ERR_NO_MEM;
}

int session_finalize(MPI_Session* session) {
  if (--sessions == 0 && !world_remains()) before_end();
  free_world_group(bits_of(*session));
  return host().Session_finalize(session);
}

}  // namespace

bool sessions_remain() {
  return sessions > 0;
}

void install_sessions(void** own) {
  if (!host().Session_init) return;
  install(own, HOCKET_CALL_Session_init, &session_init);
  install(own, HOCKET_CALL_Session_finalize, &session_finalize);
}

}  // namespace hocket::interpose
