// Communicators made by the members of a group alone.
#include <new>
#include <optional>
#include <string>

#include "interpose/plugin/creation.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

Origin seed(Making making, Origin parent) {
  return OriginHash(parent).add(static_cast<std::uint64_t>(making)).value();
}

// The members of a group, and how often they have made a communicator before. Nothing: no memory.
std::optional<Origin> origin_of(std::uint64_t from, MPI_Group group, std::string_view tag) noexcept {
  try {
    return next_of_group(from, group, tag);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

// The others are in the call already: it is run, and then fails on this rank.
int made_of_group(int result, const MPI_Comm* handle, std::optional<Origin> origin) {
  if (origin || result != MPI_SUCCESS || *handle == null().comm)
    return made(result, handle, origin.value_or(0));
  return raise_class(*handle, MPI_ERR_NO_MEM);
}

int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made_comm) {
  std::optional<Origin> origin = 0;
  const Communicator* parent = find_communicator(comm);
  if (parent && parent->origin && group != null().group)
    origin = origin_of(seed(Making::create_group, parent->origin), group, std::to_string(tag));
  return made_of_group(host().Comm_create_group(comm, group, tag, made_comm), made_comm, origin);
}

int comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler errhandler,
                           MPI_Comm* made_comm) {
  std::optional<Origin> origin = 0;
  if (tag && group != null().group)
    origin = origin_of(seed(Making::create_from_group, world_origin), group, tag);
  return made_of_group(host().Comm_create_from_group(group, tag, info, errhandler, made_comm), made_comm,
                       origin);
}

// What these make is left to the MPI; their handles may have stood for something else before.
//
// A merged communicator's members could only tell it from another one with the same members by the order in
// which they made them. Threads may make them in different orders on different ranks, without a tag that MPI
// would oblige them to give.
int intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     MPI_Comm* made_comm) {
  return made(host().Intercomm_create(local, local_leader, peer, remote_leader, tag, made_comm), made_comm,
              0);
}

int intercomm_merge(MPI_Comm inter, int high, MPI_Comm* made_comm) {
  return made(host().Intercomm_merge(inter, high, made_comm), made_comm,
              [](MPI_Comm comm) { remember_left(comm, "made by MPI_Intercomm_merge"); });
}

}  // namespace

void install_groups(void** own) {
  install(own, HOCKET_CALL_Comm_create_group, &comm_create_group);
  if (host().Comm_create_from_group)
    install(own, HOCKET_CALL_Comm_create_from_group, &comm_create_from_group);
  install(own, HOCKET_CALL_Intercomm_create, &intercomm_create);
  install(own, HOCKET_CALL_Intercomm_merge, &intercomm_merge);
}

}  // namespace hocket::interpose
