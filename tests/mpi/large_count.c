// The large-count forms, also where the MPI has none (Open MPI 4 and 5): then Hocket's are found through weak
// references, as mpi4py does it.
#include "check.h"

#if defined(OMPI_MAJOR_VERSION)
#define WEAK __attribute__((weak))
int MPI_Allreduce_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm) WEAK;
int MPI_Bcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm) WEAK;
int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                  MPI_Datatype, int, MPI_Comm) WEAK;
int MPI_Alltoallv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, const MPI_Count*,
                    const MPI_Aint*, MPI_Datatype, MPI_Comm) WEAK;
#endif

static void test(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long own = rank, sum = 0, all[64];
  MPI_Count counts[64];
  MPI_Aint places[64];
  MPI_Allreduce_c(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
  CHECK(sum == (long)size * (size - 1) / 2);
  MPI_Bcast_c(&sum, 1, MPI_LONG, size - 1, comm);
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    places[r] = size - 1 - r;
  }
  MPI_Gatherv_c(&own, 1, MPI_LONG, all, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_LONG, 0,
                comm);
  for (int r = 0; r < size && rank == 0; ++r) CHECK(all[size - 1 - r] == r);
  long in[64];
  for (int r = 0; r < size; ++r) in[r] = 100 * rank + r;
  MPI_Alltoallv_c(in, counts, places, MPI_LONG, all, counts, places, MPI_LONG, comm);
  for (int r = 0; r < size; ++r) CHECK(all[size - 1 - r] == 100 * r + size - 1 - rank);
}

int main(int argc, char** argv) {
  MPI_Comm half;
  check_start(&argc, &argv);
  test(MPI_COMM_WORLD);
  test(MPI_COMM_SELF);  // left to the MPI: narrowed where it has no such form
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
  test(half);
  MPI_Comm_free(&half);
  return check_finish("large_count");
}
