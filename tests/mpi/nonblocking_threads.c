// MPI_THREAD_MULTIPLE: threads start and complete non-blocking and persistent collectives at the same time,
// each on a communicator of its own, beside one that only receives; and a request is waited for by another
// thread than the one that started it.
#include <pthread.h>

#include "completion.h"
#include "persistent_names.h"

enum { threads = 3, rounds = 40, together = 12, long_vector = 50000 };
static int size;

struct worker {
  MPI_Comm comm;
  int number;
  long wrong;
  int *in, *out;
};
static struct worker workers[threads];

static __thread long arrived;
static void count(int index, const MPI_Status* status) {
  (void)index, (void)status;
  ++arrived;
}

static void many_small(struct worker* w, int round) {
  MPI_Request requests[together];
  int sums[together], mine[together];
  for (int i = 0; i < together; ++i) {
    mine[i] = check_rank + w->number * 100 + round + i;
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, w->comm, &requests[i]);
  }
  MPI_Waitall(together, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < together; ++i)
    w->wrong += sums[i] != size * (size - 1) / 2 + size * (w->number * 100 + round + i);
}

static void one_large(struct worker* w, int round) {
  MPI_Request request;
  int done = 0;
  for (int i = 0; i < long_vector; ++i) w->in[i] = check_rank + round + i;
  MPI_Iallreduce(w->in, w->out, long_vector, MPI_INT, MPI_SUM, w->comm, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  for (int i = 0; i < long_vector; ++i) w->wrong += w->out[i] != size * (size - 1) / 2 + size * (round + i);
}

// Made, started, waited for and freed by each thread, while the others do the same.
static void persistent_ones(struct worker* w, int round) {
  MPI_Request requests[2];
  int mine = 0, sum = 0, told = -1;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&told, 1, MPI_INT, round % size, w->comm, MPI_INFO_NULL, &requests[1]);
  for (int again = 0; again < 5; ++again) {
    mine = check_rank + round + again;
    told = check_rank == round % size ? w->number + again : -1;
    if (again % 2) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      int done = 0;
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      while (!done) MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    }
    w->wrong += sum != size * (size - 1) / 2 + size * (round + again) || told != w->number + again;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void between_blocking_ones(struct worker* w, int round) {
  MPI_Request requests[2];
  int told = check_rank == round % size ? round : -1, first = -1, index;
  MPI_Ibcast(&told, 1, MPI_INT, round % size, w->comm, &requests[0]);
  MPI_Barrier(w->comm);
  MPI_Iscan(&check_rank, &first, 1, MPI_INT, MPI_SUM, w->comm, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  w->wrong += told != round || first != check_rank * (check_rank + 1) / 2;
}

static void* work(void* argument) {
  struct worker* w = argument;
  w->in = malloc(long_vector * sizeof *w->in);
  w->out = malloc(long_vector * sizeof *w->out);
  for (int round = 0; round < rounds; ++round) {
    many_small(w, round);
    if (round % 8 == w->number) one_large(w, round);
    between_blocking_ones(w, round);
    persistent_ones(w, round);
  }
  free(w->in);
  free(w->out);
  return NULL;
}

// Sits in the MPI all the time.
static void* receive_last_message(void* unused) {
  int got;
  (void)unused;
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void at_the_same_time(void) {
  pthread_t ids[threads], receiver;
  pthread_create(&receiver, NULL, receive_last_message, NULL);
  for (int t = 0; t < threads; ++t) {
    workers[t].number = t;
    pthread_create(&ids[t], NULL, work, &workers[t]);
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
    CHECK(workers[t].wrong == 0);
  }
  MPI_Send(&size, 1, MPI_INT, (check_rank + 1) % size, 31, MPI_COMM_WORLD);
  pthread_join(receiver, NULL);
}

// ---- started here, waited for there
static struct handed {
  MPI_Request requests[together];
  enum completion form;
} handed;

static void* complete_handed(void* unused) {
  (void)unused;
  arrived = 0;
  complete(together, handed.requests, handed.form, count);
  return (void*)arrived;
}

static void waited_for_elsewhere(void) {
  for (int form = 0; form < completion_forms; ++form) {
    int sums[together];
    pthread_t id;
    void* found;
    context("%s", completion_names[form]);
    handed.form = (enum completion)form;
    for (int i = 0; i < together; ++i)
      MPI_Iallreduce(&check_rank, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &handed.requests[i]);
    pthread_create(&id, NULL, complete_handed, NULL);
    pthread_join(id, &found);
    CHECK((long)found == together);
    for (int i = 0; i < together; ++i) CHECK(sums[i] == size * (size - 1) / 2);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (check_rank == 0) printf("SKIPPED: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
  MPI_Barrier(MPI_COMM_WORLD);
  waited_for_elsewhere();
  at_the_same_time();
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&workers[t].comm);
  return check_finish("nonblocking_threads");
}
