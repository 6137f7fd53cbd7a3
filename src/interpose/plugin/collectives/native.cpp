#include "interpose/plugin/collectives/native.hpp"

namespace hocket::interpose {

int array_length(MPI_Comm comm) {
  int inter = 0, length = 0;
  host().Comm_test_inter(comm, &inter);
  (inter ? host().Comm_remote_size : host().Comm_size)(comm, &length);
  return length;
}

bool is_array_owner(int root, MPI_Comm comm) {
  int rank = MPI_PROC_NULL;
  host().Comm_rank(comm, &rank);
  return root == rank || root == MPI_ROOT;
}

}  // namespace hocket::interpose
