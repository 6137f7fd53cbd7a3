// A rank, the root or a receiver, has no memory for the packed image of its data: all ranks get an error,
// nobody waits for ever.
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { block = 1 << 16, blocks = 4000, gap = 64, room = 100 << 20 };

static void limit_memory(void) {
  char line[128];
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || !fgets(line, sizeof line, file)) abort();
  fclose(file);
  const long pages = strtol(line, NULL, 10);
  const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + room;
  const struct rlimit limit = {most, most};
  setrlimit(RLIMIT_AS, &limit);
}

// On a communicator of its own: it is given up.
static void broadcast_without_memory_on(int poor, MPI_Datatype type, char* data) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  if (check_rank == poor) limit_memory();
  CHECK(MPI_Bcast(data, 1, type, 0, comm) != MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Datatype type;
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_create_hvector(blocks, block, block + gap, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  char* data = calloc(blocks, block + gap);
  broadcast_without_memory_on(1, type, data);
  broadcast_without_memory_on(0, type, data);
  free(data);
  MPI_Type_free(&type);
  return check_finish("no_memory");
}
