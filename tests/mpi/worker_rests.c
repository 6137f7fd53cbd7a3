// Workers that have nothing to do do nothing: before anything was handed over to them, after it was, and
// while a rank that is late keeps them waiting. Two of them, so that they have a network between them.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "worker_process.h"

enum { workers = 2, count = 32768 };

// Seconds that the process has run; on local rank 0, which alone finds workers.
static double core_of(int worker) {
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%d/schedstat", (int)numbered_worker_process(worker));
  FILE* file = fopen(path, "r");
  CHECK(file && fgets(text, sizeof text, file));  // nanoseconds, and what else there is
  if (file) fclose(file);
  return 1e-9 * strtod(text, NULL);
}

static void check_that_they_rest(const char* when) {
  double before[workers];
  if (check_rank == 0)
    for (int i = 0; i < workers; ++i) before[i] = core_of(i);
  const double start = MPI_Wtime();
  usleep(400000);  // in which they have nothing to do: nothing is waited for
  const double passed = MPI_Wtime() - start;
  for (int i = 0; check_rank == 0 && i < workers; ++i) {
    const double ran = core_of(i) - before[i];
    context("%s: worker %d ran for %.0f of %.0f ms", when, i, 1e3 * ran, 1e3 * passed);
    CHECK(ran < passed / 4);
  }
}

static void exchange(const int* out, int* in, int late) {
  MPI_Request request;
  if (late && check_rank != 0) usleep(600000);
  MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD, &request);
  if (late && check_rank == 0) check_that_they_rest("a rank is late");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int ranks;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* out = calloc((size_t)ranks * count, sizeof *out);
  int* in = calloc((size_t)ranks * count, sizeof *in);
  MPI_Barrier(MPI_COMM_WORLD);
  check_that_they_rest("nothing was handed over");
  for (int i = 0; i < 10; ++i) exchange(out, in, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  check_that_they_rest("all has ended");
  exchange(out, in, 1);
  free(out);
  free(in);
  return check_finish("worker_rests");
}
