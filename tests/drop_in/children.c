// Processes that are no MPI programs, started between collectives: by system(), by fork and exec, and a fork
// that only exits. They inherit descriptors and, before MPI_Init, the preload. `argv[1]` = "exits": the
// program ends by exit() without MPI_Finalize.
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/check.h"

static void collectives(int count) {
  int in[2000], out[2000], size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < count; ++i) in[i] = check_rank + i;
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK(out[i] == size * (size - 1) / 2 + size * i);
}

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void start_children(void) {
  CHECK(system("true") == 0);
  CHECK(system("exit 3") != 0);
  pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "0.01", (char*)NULL);
    _exit(9);
  }
  CHECK(status_of(child) == 0);
  child = fork();
  if (child == 0) _exit(0);
  CHECK(status_of(child) == 0);
}

int main(int argc, char** argv) {
  if (system("true") != 0) return 5;
  check_start(&argc, &argv);
  for (int k = 0; k < 5; ++k) {
    collectives(1 + k % 2 * 1999);
    if (check_rank % 2 == k % 2) start_children();
    collectives(3);
  }
  if (argc > 1 && !strcmp(argv[1], "exits")) {
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %ld failures\n", check_rank, check_failures);
    fflush(stdout);
    exit(check_failures != 0);
  }
  return check_finish("children");
}
