// Collective file access: the MPI's own input/output calls collectives of its own, inside the library, which
// are not Hocket's. The program's collectives around it are.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/check.h"

enum { per_rank = 5000, rounds = 5 };

static void check_file(const char* name, int size) {
  int* data = malloc(per_rank * sizeof *data);
  MPI_File file;
  for (int k = 0; k < rounds; ++k) {
    int sum = 0;
    const int right =
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK(right == MPI_SUCCESS);
    MPI_Allreduce(&right, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (sum != MPI_SUCCESS) break;
    for (int i = 0; i < per_rank; ++i) data[i] = check_rank * per_rank + i + k;
    const MPI_Offset place = (MPI_Offset)check_rank * per_rank * (MPI_Offset)sizeof *data;
    MPI_File_write_at_all(file, place, data, per_rank, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    const int other = (check_rank + 1) % size;
    MPI_File_read_at_all(file, (MPI_Offset)other * per_rank * (MPI_Offset)sizeof *data, data, per_rank,
                         MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < per_rank; ++i) CHECK(data[i] == other * per_rank + i + k);
    MPI_File_close(&file);
  }
  free(data);
}

int main(int argc, char** argv) {
  int size = 0;
  char name[4096] = "";
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (check_rank == 0)
    snprintf(name, sizeof name, "%s/hocket-mpi-io.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  check_file(name, size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) unlink(name);
  return check_finish("mpi_io");
}
