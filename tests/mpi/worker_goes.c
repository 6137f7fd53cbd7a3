// Non-blocking and persistent collectives, many under way at a time, while the node's worker process is
// killed or stopped: all of them end, with the right data. Arguments: KILL or STOP, and "remote" if it is not
// the process beside the ranks but the one that works for them elsewhere. Only for one node. TEST_ELEMENTS:
// of a vector, four times those of a block; many are carried out in slices.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "persistent_names.h"
#include "worker_process.h"

enum { rounds = 60, goes_in = 20, calls = 7 };

static int rank, size, failures, elements = 40000;

static void expect(int holds, const char* what, int round) {
  if (holds || failures++ > 5) return;
  fprintf(stderr, "rank %d, round %d: wrong: %s\n", rank, round, what);
}

static void let_go(const char* how, const char* half) {
  const pid_t process = half && strcmp(half, "remote") == 0 ? remote_worker_process() : worker_process();
  expect(process > 0, "there is a worker", goes_in);
  if (process > 0) kill(process, strcmp(how, "STOP") == 0 ? SIGSTOP : SIGKILL);
}

struct buffers {
  int *sum_in, *sum, *in_place, *out, *in, *all, *root, *all_in_place, *dealt;
};

static struct buffers make(void) {
  struct buffers b;
  int** const each[] = {&b.sum_in, &b.sum,  &b.in_place,     &b.out,  &b.in,
                        &b.all,    &b.root, &b.all_in_place, &b.dealt};
  for (size_t i = 0; i < sizeof each / sizeof *each; ++i)
    *each[i] = malloc(sizeof(int) * (size_t)elements * (size_t)size);
  return b;
}

static void fill(struct buffers* b, int round) {
  for (int i = 0; i < elements; ++i) {
    b->sum_in[i] = b->in_place[i] = rank + i + round;
    b->root[i] = rank == round % size ? i * 3 + round : -1;
    b->all_in_place[rank * elements + i] = rank + i * 5 + round;
  }
  for (int i = 0; i < size * elements; ++i) b->dealt[i] = rank == round % size ? i * 7 + round : -1;
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < elements / 4; ++i)
      b->out[to * (elements / 4) + i] = rank * 1000 + to * 10 + round + i;
}

static void start(struct buffers* b, int round, MPI_Comm comm, MPI_Request* requests) {
  MPI_Iallreduce(b->sum_in, b->sum, elements, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Ialltoall(b->out, elements / 4, MPI_INT, b->in, elements / 4, MPI_INT, comm, &requests[1]);
  MPI_Iallreduce(MPI_IN_PLACE, b->in_place, elements, MPI_INT, MPI_SUM, comm, &requests[2]);
  MPI_Ibcast(b->root, elements, MPI_INT, round % size, comm, &requests[3]);
  MPI_Iallgather(b->sum_in, elements, MPI_INT, b->all, elements, MPI_INT, comm, &requests[4]);
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, b->all_in_place, elements, MPI_INT, comm, &requests[5]);
  MPI_Iscatter(b->dealt, elements, MPI_INT, rank == round % size ? MPI_IN_PLACE : b->dealt, elements, MPI_INT,
               round % size, comm, &requests[6]);
}

static void check(const struct buffers* b, int round) {
  const int of_ranks = size * (size - 1) / 2;
  int right = 1, in_place = 1, moved = 1, same = 1, gathered = 1;
  for (int i = 0; i < elements; ++i) {
    right &= b->sum[i] == of_ranks + size * (i + round);
    in_place &= b->in_place[i] == of_ranks + size * (i + round);
    same &= b->root[i] == i * 3 + round;
    for (int from = 0; from < size; ++from) gathered &= b->all[from * elements + i] == from + i + round;
  }
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < elements / 4; ++i)
      moved &= b->in[from * (elements / 4) + i] == from * 1000 + rank * 10 + round + i;
  int all_in_place = 1, dealt = 1;
  const int is_dealer = rank == round % size;
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < elements; ++i)
      all_in_place &= b->all_in_place[from * elements + i] == from + i * 5 + round;
  for (int i = 0; i < (is_dealer ? size * elements : elements); ++i)
    dealt &= b->dealt[i] == (is_dealer ? i : rank * elements + i) * 7 + round;
  expect(all_in_place, "MPI_Iallgather in place", round);
  expect(dealt, "MPI_Iscatter in place", round);
  expect(right, "MPI_Iallreduce", round);
  expect(in_place, "MPI_Iallreduce in place", round);
  expect(moved, "MPI_Ialltoall", round);
  expect(same, "MPI_Ibcast", round);
  expect(gathered, "MPI_Iallgather", round);
}

struct persistent {
  int *in, *out;
  MPI_Request request;
};

static void make_persistent(struct persistent* p) {
  p->in = calloc((size_t)elements, sizeof(int));
  p->out = calloc((size_t)elements, sizeof(int));
  MPI_Allreduce_init(p->in, p->out, elements, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &p->request);
}

static void start_persistent(struct persistent* p, int round) {
  for (int i = 0; i < elements; ++i) p->in[i] = rank * round + i;
  MPI_Start(&p->request);
}

static void end_persistent(struct persistent* p, int round) {
  MPI_Wait(&p->request, MPI_STATUS_IGNORE);
  int right = 1;
  for (int i = 0; i < elements; ++i) right &= p->out[i] == (size - 1) * round + i;
  expect(right, "MPI_Allreduce_init", round);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const wanted = getenv("TEST_ELEMENTS");
  if (wanted) elements = (int)strtol(wanted, NULL, 10);
  MPI_Comm other, freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  struct buffers b = make(), c = make();
  struct persistent persistent;
  make_persistent(&persistent);
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2 * calls];
    fill(&b, round);
    fill(&c, round + 7);
    start(&b, round, MPI_COMM_WORLD, requests);
    start_persistent(&persistent, round);
    /* while some ranks have started more than others */
    if (round == goes_in && rank == 0) let_go(argv[1], argc > 2 ? argv[2] : NULL);
    start(&c, round + 7, round < goes_in ? freed : other, requests + calls);
    MPI_Waitall(2 * calls, requests, MPI_STATUSES_IGNORE);
    end_persistent(&persistent, round);
    check(&b, round);
    check(&c, round + 7);
    if (round == goes_in - 1) MPI_Comm_free(&freed);
  }
  MPI_Request_free(&persistent.request);
  MPI_Comm_free(&other);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("right\n");
  MPI_Finalize();
  return all != 0;
}
