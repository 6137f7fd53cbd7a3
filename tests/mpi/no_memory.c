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

static int broadcast(char* data, MPI_Datatype type, MPI_Comm comm) {
  return MPI_Bcast(data, 1, type, 0, comm);
}
static int broadcast_and_wait(char* data, MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Ibcast(data, 1, type, 0, comm, &request);
  CHECK(code == MPI_SUCCESS || request == MPI_REQUEST_NULL);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

// On a communicator of its own: it is given up.
static void without_memory_on(int poor, int (*call)(char*, MPI_Datatype, MPI_Comm), MPI_Datatype type,
                              char* data) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  if (check_rank == poor) limit_memory();
  CHECK(call(data, type, comm) != MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

static void others_work(void) {
  MPI_Request request;
  int size, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
}

int main(int argc, char** argv) {
  MPI_Datatype type;
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_create_hvector(blocks, block, block + gap, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  char* data = calloc(blocks, block + gap);
  for (int poor = 1; poor >= 0; --poor) {
    without_memory_on(poor, broadcast, type, data);
    without_memory_on(poor, broadcast_and_wait, type, data);
    others_work();
  }
  free(data);
  MPI_Type_free(&type);
  return check_finish("no_memory");
}
