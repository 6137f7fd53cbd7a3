// MPI_THREAD_MULTIPLE: two threads meet the same new datatype at the same moment; then it is freed, and the
// next one usually gets its handle.
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { workers = 2, rounds = 2000, blocks = 8 };

static MPI_Comm comms[workers];
static MPI_Datatype type;
static long wrong[workers];
static int arrived;

// Of the workers and the thread that makes the types. Spins, so that all leave at once; yields, since there
// may be fewer cores than threads.
static void meet(void) {
  const int parties = workers + 1;
  const int mine = __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  const int end = (mine / parties + 1) * parties;
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < end) sched_yield();
}

static void bcast(int worker, int round) {
  int data[4 * blocks];
  for (int i = 0; i < 4 * blocks; ++i) data[i] = check_rank == 0 ? i + round : -1;
  MPI_Bcast(data, blocks, type, 0, comms[worker]);
  for (int i = 0; i < 4 * blocks; ++i)
    wrong[worker] += data[i] != (i % 4 < 2 || check_rank == 0 ? i + round : -1);
}

static void* work(void* argument) {
  const int worker = *(int*)argument;
  for (int k = 0; k < rounds; ++k) {
    meet();
    bcast(worker, k);
    meet();
  }
  return NULL;
}

// Two integers of every four.
static void make_type(void) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &type);
  MPI_Type_free(&pair);
  MPI_Type_commit(&type);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE, numbers[workers];
  pthread_t threads[workers];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    printf("SKIPPED: no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  for (int i = 0; i < workers; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < workers; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int k = 0; k < rounds; ++k) {
    make_type();
    meet();
    meet();
    MPI_Type_free(&type);
  }
  for (int i = 0; i < workers; ++i) {
    pthread_join(threads[i], NULL);
    context("thread %d: %ld wrong", i, wrong[i]);
    CHECK(wrong[i] == 0);
    MPI_Comm_free(&comms[i]);
  }
  return check_finish("new_types");
}
