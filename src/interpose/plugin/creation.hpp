// The common part of all functions that make a communicator from another one.
#pragma once

#include <concepts>
#include <new>

#include "interpose/plugin/communicators.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/origins.hpp"

namespace hocket::interpose {

/// Remembers what was made, and forgets what its handle stood for before. What one rank cannot remember is an
/// error: the others may run its collectives.
template <std::invocable<MPI_Comm> Remember>
int made(int result, const MPI_Comm* handle, Remember remember) {
  if (result != MPI_SUCCESS || *handle == null().comm) return result;
  communicators.erase(bits_of(*handle));
  try {
    remember(*handle);
    return result;
  } catch (const std::bad_alloc&) {
    return raise_class(*handle, MPI_ERR_NO_MEM);
  }
}

inline int made(int result, const MPI_Comm* handle, Origin origin) {
  return made(result, handle, [origin](MPI_Comm comm) {
    if (origin) remember(comm, origin);
  });
}

/// What all members of a communicator make of it. No parent, and 0: it is unknown, or the MPI's own doing.
struct Child {
  Communicator* parent = nullptr;
  Origin origin = 0;
};

inline Child child_of(MPI_Comm parent, Making making, const void* return_address) {
  if (process.stage0->caller_is_mpi(return_address)) return {};
  Communicator* known = find_communicator(parent);
  if (!known || !known->origin) return {};
  return {known, next_child(*known, making)};
}

/// Made by a call in which all members of the parent have been, also those that are not in the child.
inline int made(int result, const MPI_Comm* handle, const Child& child) {
  if (child.parent && result == MPI_SUCCESS) note_meeting(*child.parent);
  return made(result, handle, child.origin);
}

}  // namespace hocket::interpose

#define HOCKET_CHILD_OF(parent, making) \
  child_of(parent, Making::making, __builtin_extract_return_addr(__builtin_return_address(0)))
