// The MPI's own functions, as a table of pointers found by name: calling through it never comes back to
// Hocket.
//
// Every collective has an int and a large-count form with the same shape, so that one template can hold both;
// a pointer is null where this MPI has no such function.
#pragma once

#include <type_traits>

#include "interpose/abi.h"
#include "interpose/plugin/mpi_abi.hpp"

// Functions of which one form is needed. Some are missing in some MPIs (sessions before MPI 4).
// clang-format off
#define HOCKET_HOST_FUNCTIONS(X) \
  X(Init) X(Init_thread) X(Finalize) X(Session_init) X(Session_finalize) \
  X(Comm_rank) X(Comm_size) X(Comm_remote_size) X(Comm_group) X(Comm_test_inter) \
  X(Comm_free) X(Comm_disconnect) X(Comm_create_keyval) X(Comm_free_keyval) X(Comm_set_attr) \
  X(Comm_call_errhandler) X(Comm_dup) X(Comm_dup_with_info) X(Comm_idup) X(Comm_idup_with_info) \
  X(Comm_split) X(Comm_split_type) X(Comm_create) X(Comm_create_group) X(Comm_create_from_group) \
  X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent) \
  X(Comm_spawn) X(Comm_spawn_multiple) X(Info_create) X(Info_dup) X(Info_free) X(Info_get) \
  X(Info_get_valuelen) X(Info_set) X(Intercomm_create) X(Intercomm_merge) X(Group_size) \
  X(Group_rank) X(Group_translate_ranks) X(Group_free) X(Group_from_session_pset) X(Type_size_x) \
  X(Type_get_extent_x) X(Type_get_true_extent_x) X(Type_get_envelope) X(Type_get_contents) \
  X(Type_free) X(Type_commit) X(Type_create_hindexed) X(Type_create_keyval) X(Type_free_keyval) \
  X(Type_set_attr) X(Op_commutative) X(Reduce_local) X(Pack) X(Unpack) X(Barrier) X(Grequest_start) \
  X(Grequest_complete) X(Request_get_status) X(Wait) X(Add_error_class) X(Add_error_code) \
  X(Add_error_string) X(Isend) X(Irecv) X(Iallreduce) X(Test) X(Testany) X(Cancel) X(Request_free) \
  X(Comm_get_attr) X(Comm_get_parent) X(Comm_create_errhandler) X(Comm_set_errhandler) X(Errhandler_free) \
  X(Query_thread) X(T_init_thread) X(T_finalize) X(T_cvar_get_index) X(T_cvar_handle_alloc) \
  X(T_cvar_handle_free) X(T_cvar_read)
// clang-format on

// Functions with an int and a large-count (_c) form; their shapes are in Counted below.
// clang-format off
#define HOCKET_COUNTED_FUNCTIONS(X) \
  X(Bcast) X(Reduce) X(Allreduce) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) \
  X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) \
  X(Scan) X(Exscan) X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) \
  X(Neighbor_alltoallv) X(Neighbor_alltoallw)
// clang-format on

namespace hocket::interpose {

/// N is the type of a count: int or MPI_Count. Displacements are then int or MPI_Aint.
template <class N>
using Displacement = std::conditional_t<std::is_same_v<N, int>, int, MPI_Aint>;

template <class N>
struct Counted {
  using D = Displacement<N>;
  using T = MPI_Datatype;
  using C = MPI_Comm;
  using In = const void*;
  using Types = const MPI_Datatype*;

  int (*Bcast)(void*, N, T, int, C);
  int (*Reduce)(In, void*, N, T, MPI_Op, int, C);
  int (*Allreduce)(In, void*, N, T, MPI_Op, C);
  int (*Gather)(In, N, T, void*, N, T, int, C);
  int (*Gatherv)(In, N, T, void*, const N*, const D*, T, int, C);
  int (*Scatter)(In, N, T, void*, N, T, int, C);
  int (*Scatterv)(In, const N*, const D*, T, void*, N, T, int, C);
  int (*Allgather)(In, N, T, void*, N, T, C);
  int (*Allgatherv)(In, N, T, void*, const N*, const D*, T, C);
  int (*Alltoall)(In, N, T, void*, N, T, C);
  int (*Alltoallv)(In, const N*, const D*, T, void*, const N*, const D*, T, C);
  int (*Alltoallw)(In, const N*, const D*, Types, void*, const N*, const D*, Types, C);
  int (*Reduce_scatter)(In, void*, const N*, T, MPI_Op, C);
  int (*Reduce_scatter_block)(In, void*, N, T, MPI_Op, C);
  int (*Scan)(In, void*, N, T, MPI_Op, C);
  int (*Exscan)(In, void*, N, T, MPI_Op, C);
  int (*Neighbor_allgather)(In, N, T, void*, N, T, C);
  int (*Neighbor_allgatherv)(In, N, T, void*, const N*, const D*, T, C);
  int (*Neighbor_alltoall)(In, N, T, void*, N, T, C);
  int (*Neighbor_alltoallv)(In, const N*, const D*, T, void*, const N*, const D*, T, C);
  int (*Neighbor_alltoallw)(In, const N*, const MPI_Aint*, Types, void*, const N*, const MPI_Aint*, Types, C);
};

struct Host {
#define X(name) decltype(&MPI_##name) name;
  HOCKET_HOST_FUNCTIONS(X)
#undef X
  Counted<int> small;
  Counted<MPI_Count> large;
  int (*Pack_c)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  int (*Unpack_c)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
  int (*Type_get_contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*,
                             MPI_Count*, MPI_Datatype*);
  int (*Comm_is_revoked)(MPI_Comm, int*);  ///< MPIX: of user-level failure mitigation

  template <class N>
  const Counted<N>& counted() const {
    if constexpr (std::is_same_v<N, int>)
      return small;
    else
      return large;
  }
};

extern Host host_functions;
inline const Host& host() {
  return host_functions;
}

/// Fills the table. Once, before anything else here is used.
void find_host_functions(const hocket_stage0& stage0);

/// Predefined handles that run-time code compares with; valid after find_host_functions.
struct Null {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Group group;
};
extern Null null_handles;
inline const Null& null() {
  return null_handles;
}

}  // namespace hocket::interpose
