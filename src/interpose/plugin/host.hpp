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
  X(Type_set_attr) X(Op_commutative) X(Op_free) X(Reduce_local) X(Pack) X(Unpack) X(Grequest_start) \
  X(Grequest_complete) X(Request_get_status) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) \
  X(Testall) X(Testany) X(Testsome) X(Add_error_class) X(Add_error_code) \
  X(Add_error_string) X(Isend) X(Irecv) X(Recv_init) X(Iallreduce) X(Iallgather) X(Iallgatherv) X(Improbe) X(Mrecv) X(Cancel) X(Request_free) \
  X(Comm_get_attr) X(Comm_get_parent) X(Comm_create_errhandler) X(Comm_set_errhandler) X(Errhandler_free) \
  X(Query_thread) X(Start) X(Startall) X(T_init_thread) X(T_finalize) X(T_cvar_get_index) X(T_cvar_handle_alloc) \
  X(T_cvar_handle_free) X(T_cvar_read) X(Alloc_mem) X(Free_mem)
// clang-format on

// Collectives with an int and a large-count (_c) form, and the names of their non-blocking forms (the
// persistent ones are called after the blocking ones); their shapes are in Collectives below.
// clang-format off
#define HOCKET_COUNTED_FUNCTIONS(X) \
  X(Bcast, Ibcast) X(Reduce, Ireduce) X(Allreduce, Iallreduce) X(Gather, Igather) \
  X(Gatherv, Igatherv) X(Scatter, Iscatter) X(Scatterv, Iscatterv) X(Allgather, Iallgather) \
  X(Allgatherv, Iallgatherv) X(Alltoall, Ialltoall) X(Alltoallv, Ialltoallv) \
  X(Alltoallw, Ialltoallw) X(Reduce_scatter, Ireduce_scatter) \
  X(Reduce_scatter_block, Ireduce_scatter_block) X(Scan, Iscan) X(Exscan, Iexscan) \
  X(Neighbor_allgather, Ineighbor_allgather) X(Neighbor_allgatherv, Ineighbor_allgatherv) \
  X(Neighbor_alltoall, Ineighbor_alltoall) X(Neighbor_alltoallv, Ineighbor_alltoallv) \
  X(Neighbor_alltoallw, Ineighbor_alltoallw)
// clang-format on

namespace hocket::interpose {

/// N is the type of a count: int or MPI_Count. Displacements are then int or MPI_Aint.
template <class N>
using Displacement = std::conditional_t<std::is_same_v<N, int>, int, MPI_Aint>;

/// The three forms of a collective, from the type of its blocking one.
template <class Function>
struct Blocking {
  using type = Function*;
};
template <class Function>
struct Nonblocking;
template <class... A>
struct Nonblocking<int(A...)> {
  using type = int (*)(A..., MPI_Request*);
};

template <class Function>
struct Persistent;
template <class... A>
struct Persistent<int(A...)> {
  using type = int (*)(A..., MPI_Info, MPI_Request*);
};

template <class N, template <class> class Form>
struct Collectives {
  using D = Displacement<N>;
  using T = MPI_Datatype;
  using C = MPI_Comm;
  using In = const void*;
  using Types = const MPI_Datatype*;

  typename Form<int(C)>::type Barrier;
  typename Form<int(void*, N, T, int, C)>::type Bcast;
  typename Form<int(In, void*, N, T, MPI_Op, int, C)>::type Reduce;
  typename Form<int(In, void*, N, T, MPI_Op, C)>::type Allreduce;
  typename Form<int(In, N, T, void*, N, T, int, C)>::type Gather;
  typename Form<int(In, N, T, void*, const N*, const D*, T, int, C)>::type Gatherv;
  typename Form<int(In, N, T, void*, N, T, int, C)>::type Scatter;
  typename Form<int(In, const N*, const D*, T, void*, N, T, int, C)>::type Scatterv;
  typename Form<int(In, N, T, void*, N, T, C)>::type Allgather;
  typename Form<int(In, N, T, void*, const N*, const D*, T, C)>::type Allgatherv;
  typename Form<int(In, N, T, void*, N, T, C)>::type Alltoall;
  typename Form<int(In, const N*, const D*, T, void*, const N*, const D*, T, C)>::type Alltoallv;
  typename Form<int(In, const N*, const D*, Types, void*, const N*, const D*, Types, C)>::type Alltoallw;
  typename Form<int(In, void*, const N*, T, MPI_Op, C)>::type Reduce_scatter;
  typename Form<int(In, void*, N, T, MPI_Op, C)>::type Reduce_scatter_block;
  typename Form<int(In, void*, N, T, MPI_Op, C)>::type Scan;
  typename Form<int(In, void*, N, T, MPI_Op, C)>::type Exscan;
  typename Form<int(In, N, T, void*, N, T, C)>::type Neighbor_allgather;
  typename Form<int(In, N, T, void*, const N*, const D*, T, C)>::type Neighbor_allgatherv;
  typename Form<int(In, N, T, void*, N, T, C)>::type Neighbor_alltoall;
  typename Form<int(In, const N*, const D*, T, void*, const N*, const D*, T, C)>::type Neighbor_alltoallv;
  typename Form<int(In, const N*, const MPI_Aint*, Types, void*, const N*, const MPI_Aint*, Types, C)>::type
      Neighbor_alltoallw;
};

template <class N>
using Counted = Collectives<N, Blocking>;
template <class N>
using Started = Collectives<N, Nonblocking>;
template <class N>
using Kept = Collectives<N, Persistent>;

struct Host {
#define X(name) decltype(&MPI_##name) name;
  HOCKET_HOST_FUNCTIONS(X)
#undef X
  Counted<int> small;
  Counted<MPI_Count> large;
  Started<int> small_started;  ///< the non-blocking forms
  Started<MPI_Count> large_started;
  Kept<int> small_kept;  ///< what makes persistent ones, under whichever name this MPI has it
  Kept<MPI_Count> large_kept;
  int (*Pack_c)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  int (*Unpack_c)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
  int (*Type_get_contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*,
                             MPI_Count*, MPI_Datatype*);
  int (*Comm_is_revoked)(MPI_Comm, int*);  ///< MPIX: of user-level failure mitigation
  int (*Request_get_status_all)(int, const MPI_Request*, int*, MPI_Status*);
  int (*Request_get_status_any)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*Request_get_status_some)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*Request_is_complete)(MPI_Request);  ///< MPIX: of MPICH

  template <class N>
  const Counted<N>& counted() const {
    if constexpr (std::is_same_v<N, int>)
      return small;
    else
      return large;
  }
  template <class N>
  const Started<N>& started() const {
    if constexpr (std::is_same_v<N, int>)
      return small_started;
    else
      return large_started;
  }
  template <class N>
  const Kept<N>& kept() const {
    if constexpr (std::is_same_v<N, int>)
      return small_kept;
    else
      return large_kept;
  }
};

extern Host host_functions;
inline const Host& host() {
  return host_functions;
}

/// Fills the table. Once, before anything else here is used.
void find_host_functions(const hocket_stage0& stage0);

/// A function or variable of this MPI that is not in the table, null if it has none of that name.
void* host_symbol(const char* name);

/// Predefined handles that run-time code compares with; valid after find_host_functions.
struct Null {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Group group;
  MPI_Request request;
  MPI_Info info;
};
extern Null null_handles;
inline const Null& null() {
  return null_handles;
}

}  // namespace hocket::interpose
