#include "interpose/plugin/install.hpp"
#include "interpose/plugin/collectives/collectives.hpp"

namespace hocket::interpose {

#define HOCKET_INSTALL(Name, name)              \
  install(own, HOCKET_CALL_##Name, &name<int>); \
  install(own, HOCKET_CALL_##Name##_c, &name<MPI_Count>);

void install_collectives(void** own) {
  install(own, HOCKET_CALL_Barrier, &barrier);
  HOCKET_INSTALL(Bcast, bcast)
  HOCKET_INSTALL(Reduce, reduce)
  HOCKET_INSTALL(Allreduce, allreduce)
  HOCKET_INSTALL(Scan, scan)
  HOCKET_INSTALL(Exscan, exscan)
  HOCKET_INSTALL(Reduce_scatter, reduce_scatter)
  HOCKET_INSTALL(Reduce_scatter_block, reduce_scatter_block)
  HOCKET_INSTALL(Gather, gather)
  HOCKET_INSTALL(Gatherv, gatherv)
  HOCKET_INSTALL(Scatter, scatter)
  HOCKET_INSTALL(Scatterv, scatterv)
  HOCKET_INSTALL(Allgather, allgather)
  HOCKET_INSTALL(Allgatherv, allgatherv)
  HOCKET_INSTALL(Alltoall, alltoall)
  HOCKET_INSTALL(Alltoallv, alltoallv)
}

}  // namespace hocket::interpose
