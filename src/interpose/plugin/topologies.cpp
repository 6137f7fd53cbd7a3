// Communicators with a process topology. To collectives they are communicators like others; their ranks may
// be reordered.
#include "interpose/plugin/creation.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

int cart_create(MPI_Comm comm, int ndims, const int* dims, const int* periods, int reorder,
                MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, topology);
  return made(host().Cart_create(comm, ndims, dims, periods, reorder, made_comm), made_comm, child);
}

int cart_sub(MPI_Comm comm, const int* remain, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, topology);
  return made(host().Cart_sub(comm, remain, made_comm), made_comm, child);
}

int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder,
                 MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, topology);
  return made(host().Graph_create(comm, nodes, index, edges, reorder, made_comm), made_comm, child);
}

int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* destinations,
                      const int* weights, MPI_Info info, int reorder, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, topology);
  return made(
      host().Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made_comm),
      made_comm, child);
}

int dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int* sources, const int* source_weights,
                               int outdegree, const int* destinations, const int* destination_weights,
                               MPI_Info info, int reorder, MPI_Comm* made_comm) {
  const Child child = HOCKET_CHILD_OF(comm, topology);
  return made(host().Dist_graph_create_adjacent(comm, indegree, sources, source_weights, outdegree,
                                                destinations, destination_weights, info, reorder, made_comm),
              made_comm, child);
}

}  // namespace

void install_topologies(void** own) {
  install(own, HOCKET_CALL_Cart_create, &cart_create);
  install(own, HOCKET_CALL_Cart_sub, &cart_sub);
  install(own, HOCKET_CALL_Graph_create, &graph_create);
  install(own, HOCKET_CALL_Dist_graph_create, &dist_graph_create);
  install(own, HOCKET_CALL_Dist_graph_create_adjacent, &dist_graph_create_adjacent);
}

}  // namespace hocket::interpose
