// MPI_THREAD_MULTIPLE: each thread has a communicator of its own and makes and frees others meanwhile.
#include <pthread.h>

#include "check.h"

enum { threads = 3, rounds = 200 };

struct thread {
  pthread_t id;
  MPI_Comm comm;
  long wrong;
};

static void* run(void* argument) {
  struct thread* t = argument;
  int rank, size;
  MPI_Comm_rank(t->comm, &rank);
  MPI_Comm_size(t->comm, &size);
  for (int k = 0; k < rounds; ++k) {
    int own = rank + k, sum = 0, data[600];
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, t->comm);
    t->wrong += sum != size * (size - 1) / 2 + size * k;
    for (int i = 0; i < 600; ++i) data[i] = rank == k % size ? i + k : -1;
    MPI_Bcast(data, 600, MPI_INT, k % size, t->comm);
    for (int i = 0; i < 600; ++i) t->wrong += data[i] != i + k;
    if (k % 50) continue;
    MPI_Comm part;
    MPI_Comm_dup(t->comm, &part);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  struct thread all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    printf("SKIPPED: no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  for (int i = 0; i < threads; ++i) {
    all[i].wrong = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm);
  }
  for (int i = 0; i < threads; ++i) pthread_create(&all[i].id, NULL, run, &all[i]);
  for (int i = 0; i < threads; ++i) {
    pthread_join(all[i].id, NULL);
    context("thread %d: %ld wrong", i, all[i].wrong);
    CHECK(all[i].wrong == 0);
    MPI_Comm_free(&all[i].comm);
  }
  return check_finish("threads");
}
