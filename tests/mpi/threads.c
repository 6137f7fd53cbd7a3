// MPI_THREAD_MULTIPLE: several threads per rank, each with a communicator of its own, call collectives at the
// same time and check every answer. Communicators are also made and freed by the threads while others
// communicate.
#include <pthread.h>

#include "check.h"

enum { threads = 4, rounds = 300, most = 3000 };

struct worker {
  MPI_Comm comm;
  int number, rank, size;
  long wrong;
};

static void check_sum(struct worker* w, int count) {
  int in[most] = {0}, out[most];
  for (int i = 0; i < count; ++i) in[i] = w->rank + i + w->number;
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, w->comm);
  for (int i = 0; i < count; ++i)
    w->wrong += out[i] != w->size * (w->size - 1) / 2 + w->size * (i + w->number);
}

static void check_bcast(struct worker* w, int count, int root) {
  int data[most];
  for (int i = 0; i < count; ++i) data[i] = w->rank == root ? i * 3 + w->number : -1;
  MPI_Bcast(data, count, MPI_INT, root, w->comm);
  for (int i = 0; i < count; ++i) w->wrong += data[i] != i * 3 + w->number;
}

static void check_alltoall(struct worker* w) {
  int in[64], out[64];
  for (int i = 0; i < w->size; ++i) in[i] = w->rank * 100 + i + w->number;
  MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, w->comm);
  for (int i = 0; i < w->size; ++i) w->wrong += out[i] != i * 100 + w->rank + w->number;
}

static void check_young(struct worker* w) {
  MPI_Comm young;
  int sum = 0;
  MPI_Comm_dup(w->comm, &young);
  MPI_Allreduce(&w->rank, &sum, 1, MPI_INT, MPI_SUM, young);
  w->wrong += sum != w->size * (w->size - 1) / 2;
  MPI_Comm_free(&young);
}

static void* work(void* argument) {
  struct worker* w = argument;
  for (int k = 0; k < rounds; ++k) {
    check_sum(w, k % 5 == 0 ? most : k % 50);
    check_bcast(w, k % 7 == 0 ? most : 1 + k % 20, (k + w->number) % w->size);
    check_alltoall(w);
    if (k % 3 == 0) MPI_Barrier(w->comm);
    if (k % 60 == 0) check_young(w);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, size = 0;
  pthread_t ids[threads];
  struct worker workers[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE) {
    if (check_rank == 0) printf("SKIPPED: this MPI does not offer MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  int level = -1;
  MPI_Query_thread(&level);
  CHECK(level == provided);  // nothing that Hocket has started since takes it back
  for (int t = 0; t < threads; ++t) {
    workers[t] = (struct worker){.number = t, .rank = check_rank, .size = size};
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
  }
  for (int t = 0; t < threads; ++t) pthread_create(&ids[t], NULL, work, &workers[t]);
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
    context("thread %d: %ld wrong", t, workers[t].wrong);
    CHECK(workers[t].wrong == 0);
    MPI_Comm_free(&workers[t].comm);
  }
  return check_finish("threads");
}
