// Who waits for one of several operations that workers carry out leaves its core to others: nothing of them
// needs this rank, whose sleeps get longer.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { operations = 3, count = 32768 };

static double core_of_this_thread(void) {
  struct timespec ran;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
  return (double)ran.tv_sec + 1e-9 * (double)ran.tv_nsec;
}

static void wait_for_first(MPI_Request* requests) {
  const double start = MPI_Wtime(), before = core_of_this_thread();
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  const double passed = MPI_Wtime() - start, ran = core_of_this_thread() - before;
  context("waited for %.0f ms, of which it ran for %.0f", 1e3 * passed, 1e3 * ran);
  CHECK(check_rank != 0 || ran < passed / 12);
}

static void exchange(int* out[], int* in[], int late) {
  MPI_Request requests[operations];
  if (late && check_rank != 0) usleep(600000);  // which the other rank waits: that is what is measured
  for (int i = 0; i < operations; ++i)
    MPI_Ialltoall(out[i], count, MPI_INT, in[i], count, MPI_INT, MPI_COMM_WORLD, &requests[i]);
  if (late) wait_for_first(requests);
  MPI_Waitall(operations, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int ranks, *out[operations], *in[operations];
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < operations; ++i) {
    out[i] = calloc((size_t)ranks * count, sizeof *out[i]);
    in[i] = calloc((size_t)ranks * count, sizeof *in[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(out, in, 0);
  exchange(out, in, 1);
  for (int i = 0; i < operations; ++i) {
    free(out[i]);
    free(in[i]);
  }
  return check_finish("wait_rests");
}
