// Communicators made from a communicator by all its members: dup, split, create; and freed.
#include "interpose/plugin/creation.hpp"

#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

int comm_dup(MPI_Comm comm, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, dup);
  return made(host().Comm_dup(comm, made_comm), made_comm, child);
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, dup);
  return made(host().Comm_dup_with_info(comm, info, made_comm), made_comm, child);
}

// The communicator may be used only when the request has completed. That is not seen here, but the program's
// first collective on it shows it.
int made_unfinished(int result, const MPI_Comm* handle, Origin origin) {
  return made(result, handle, [origin](MPI_Comm comm) {
    if (origin) remember_unfinished(comm, origin);
  });
}

int comm_idup(MPI_Comm comm, MPI_Comm* made_comm, MPI_Request* request) {
  const Child child = HOCKET_CHILD_OF(comm, dup);
  return made_unfinished(host().Comm_idup(comm, made_comm, request), made_comm, child.origin);
}

int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made_comm, MPI_Request* request) {
  const Child child = HOCKET_CHILD_OF(comm, dup);
  return made_unfinished(host().Comm_idup_with_info(comm, info, made_comm, request), made_comm, child.origin);
}

/// MPI_Comm_free is collective: all members come to it, and have started the same operations before.
void finish_requests(MPI_Comm handle) {
  if (const Communicator* c = find_communicator(handle)) finish_all_of(c);
}

int comm_free(MPI_Comm* comm) {
  if (comm) finish_requests(*comm);
  if (comm) forget_unfinished(*comm);
  return host().Comm_free(comm);
}

int comm_disconnect(MPI_Comm* comm) {
  if (comm) finish_requests(*comm);
  if (const Communicator* c = comm ? find_communicator(*comm) : nullptr) free_tokens_on(*c);
  if (comm) forget_unfinished(*comm);
  return host().Comm_disconnect(comm);
}

int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, split);
  return made(host().Comm_split(comm, color, key, made_comm), made_comm, child);
}

int comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, split_type);
  return made(host().Comm_split_type(comm, type, key, info, made_comm), made_comm, child);
}

int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, create);
  return made(host().Comm_create(comm, group, made_comm), made_comm, child);
}

}  // namespace

void install_creation(void** own) {
  install(own, HOCKET_CALL_Comm_dup, &comm_dup);
  install(own, HOCKET_CALL_Comm_dup_with_info, &comm_dup_with_info);
  install(own, HOCKET_CALL_Comm_idup, &comm_idup);
  if (host().Comm_idup_with_info) install(own, HOCKET_CALL_Comm_idup_with_info, &comm_idup_with_info);
  install(own, HOCKET_CALL_Comm_split, &comm_split);
  install(own, HOCKET_CALL_Comm_split_type, &comm_split_type);
  install(own, HOCKET_CALL_Comm_create, &comm_create);
  install(own, HOCKET_CALL_Comm_free, &comm_free);
  install(own, HOCKET_CALL_Comm_disconnect, &comm_disconnect);
}

}  // namespace hocket::interpose
