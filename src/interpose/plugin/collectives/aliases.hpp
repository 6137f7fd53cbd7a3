// Equal addresses where MPI demands MPI_IN_PLACE. Open MPI takes them for that, and so does Hocket; MPICH
// raises MPI_ERR_BUFFER, so such a call is left to it. Only what it refuses is: blocks may lie side by side
// in one buffer, and ranks that have none would run a call that the others leave.
#pragma once

#include <cstddef>

#include "interpose/plugin/collectives/sides.hpp"

namespace hocket::interpose {

/// MPICH and its kin, unless they are told not to look.
bool mpi_refuses_aliases();

inline bool is_aliased_error(const void* in, const void* out, std::size_t bytes) {
  return in == out && in != nullptr && bytes != 0 && mpi_refuses_aliases();
}

/// Two sides whose addresses MPICH compares.
template <class N>
bool are_alike(const Part<N>& a, const Part<N>& b) {
  return a.count == b.count && a.type == b.type;
}
template <class N>
bool are_alike(const Parts<N>& a, const Parts<N>& b) {
  return a.counts == b.counts && a.type == b.type;
}
template <class N>
bool are_alike(const Part<N>& a, const Parts<N>& b) {
  return a.type == b.type;
}
template <class N>
bool are_alike(const Parts<N>& a, const Part<N>& b) {
  return a.type == b.type;
}

}  // namespace hocket::interpose
