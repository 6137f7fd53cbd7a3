// The least an MPI program can do: so many ranks as expected, one sum, one broadcast. Launched under every
// MPI family.
#include "mpi/check.h"

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int expected = argc > 1 ? (int)strtol(argv[1], NULL, 10) : size;
  context("%d ranks, expected %d", size, expected);
  CHECK(size == expected);

  int sum = 0;
  const int contribution = check_rank + 1;
  MPI_Allreduce(&contribution, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size + 1) / 2);
  int from_root = check_rank == 0 ? 4711 : 0;
  MPI_Bcast(&from_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(from_root == 4711);
  return check_finish("smoke");
}
