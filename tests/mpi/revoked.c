// A revoked communicator is the MPI's: its collectives fail with the MPI's own class, and others go on.
#include "mpi/check.h"

#include <mpi-ext.h>  // after mpi.h

int main(int argc, char** argv) {
  int size = 0, sum = 0, class_of_code = MPI_SUCCESS;
  const int one = 1;
  MPI_Comm doomed;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &doomed);
  MPI_Comm_set_errhandler(doomed, MPI_ERRORS_RETURN);
  for (int i = 0; i < 5; ++i) {
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, doomed) == MPI_SUCCESS);
    CHECK(sum == size);
  }
  MPIX_Comm_revoke(doomed);
  const int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, doomed);
  MPI_Error_class(code, &class_of_code);
  CHECK(class_of_code == MPIX_ERR_REVOKED);
  for (int i = 0; i < 5; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
  }
  MPI_Comm_free(&doomed);
  return check_finish("revoked");
}
