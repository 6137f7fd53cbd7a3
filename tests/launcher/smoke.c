// The least an MPI program can do: so many ranks as expected, one sum, one broadcast. Launched under every
// MPI family.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int sum = 0;
  const int contribution = rank + 1;
  MPI_Allreduce(&contribution, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int from_root = rank == 0 ? 4711 : 0;
  MPI_Bcast(&from_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();

  const int expected = argc > 1 ? (int)strtol(argv[1], NULL, 10) : size;
  if (size == expected && sum == size * (size + 1) / 2 && from_root == 4711) return 0;
  printf("rank %d: size %d (expected %d), sum %d, from root %d\n", rank, size, expected, sum, from_root);
  return 1;
}
