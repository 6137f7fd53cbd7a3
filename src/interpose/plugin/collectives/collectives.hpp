// Hocket's implementations of MPI's blocking collectives, one file each; N is int, or MPI_Count for the
// large-count form.
#pragma once

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {

int barrier(MPI_Comm comm);

#define HOCKET_BUFFERS(N) const void*, N, MPI_Datatype, void*, N, MPI_Datatype

template <class N>
int bcast(void*, N, MPI_Datatype, int, MPI_Comm);
template <class N>
int reduce(const void*, void*, N, MPI_Datatype, MPI_Op, int, MPI_Comm);
template <class N>
int allreduce(const void*, void*, N, MPI_Datatype, MPI_Op, MPI_Comm);
template <class N>
int scan(const void*, void*, N, MPI_Datatype, MPI_Op, MPI_Comm);
template <class N>
int exscan(const void*, void*, N, MPI_Datatype, MPI_Op, MPI_Comm);
template <class N>
int reduce_scatter(const void*, void*, const N*, MPI_Datatype, MPI_Op, MPI_Comm);
template <class N>
int reduce_scatter_block(const void*, void*, N, MPI_Datatype, MPI_Op, MPI_Comm);
template <class N>
int gather(HOCKET_BUFFERS(N), int, MPI_Comm);
template <class N>
int gatherv(const void*, N, MPI_Datatype, void*, const N*, const Displacement<N>*, MPI_Datatype, int,
            MPI_Comm);
template <class N>
int scatter(HOCKET_BUFFERS(N), int, MPI_Comm);
template <class N>
int scatterv(const void*, const N*, const Displacement<N>*, MPI_Datatype, void*, N, MPI_Datatype, int,
             MPI_Comm);
template <class N>
int allgather(HOCKET_BUFFERS(N), MPI_Comm);
template <class N>
int allgatherv(const void*, N, MPI_Datatype, void*, const N*, const Displacement<N>*, MPI_Datatype, MPI_Comm);
template <class N>
int alltoall(HOCKET_BUFFERS(N), MPI_Comm);
template <class N>
int alltoallv(const void*, const N*, const Displacement<N>*, MPI_Datatype, void*, const N*,
              const Displacement<N>*, MPI_Datatype, MPI_Comm);

#undef HOCKET_BUFFERS

}  // namespace hocket::interpose

/// Both forms of a collective, in its own file.
#define HOCKET_BOTH_FORMS(name)                                    \
  template std::remove_reference_t<decltype(name<int>)> name<int>; \
  template std::remove_reference_t<decltype(name<MPI_Count>)> name<MPI_Count>;
