// The root has no memory for the packed image of its data: all ranks get an error, nobody waits for ever.
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { block = 1 << 16, blocks = 4000, gap = 64, room = 100 << 20 };

static void limit_memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) abort();
  fclose(file);
  const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + room;
  const struct rlimit limit = {most, most};
  setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char** argv) {
  MPI_Datatype type;
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_create_hvector(blocks, block, block + gap, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  char* data = calloc(blocks, block + gap);
  if (check_rank == 0) limit_memory();
  const int code = MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
  CHECK(code != MPI_SUCCESS);
  free(data);
  MPI_Type_free(&type);
  return check_finish("no_memory");
}
