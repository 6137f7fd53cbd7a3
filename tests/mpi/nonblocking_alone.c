// A communicator's only non-blocking operation of small data, which nobody but its wait goes on with until
// something else happens: another start, blocking calls, a freed type, a long wait. Argument 1: only the case
// of this name.
#include <time.h>

#include "check.h"

enum { long_vector = 200000, many = 300 };
static int size;
static int in[long_vector], out[long_vector];

static void nap(int milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000L};
  nanosleep(&time, NULL);
}

static void again_and_again(void) {
  MPI_Request request;
  for (int k = 0; k < many; ++k) {
    int sum = -1;
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL && sum == size * (size - 1) / 2);
  }
}

// The second one is started while the first has not been looked at; either may be waited for first.
static void a_second_one(void) {
  for (int k = 0; k < many; ++k) {
    const int root = k % size, first = k & 1;
    int sum = -1, told = check_rank == root ? k : -1;
    MPI_Request requests[2];
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[first], MPI_STATUS_IGNORE);
    CHECK(first ? told == k : sum == size * (size - 1) / 2);
    MPI_Wait(&requests[!first], MPI_STATUS_IGNORE);
    CHECK(told == k && sum == size * (size - 1) / 2);
  }
}

static void one_of_each_communicator(void) {
  enum { communicators = 3 };
  MPI_Comm comms[communicators];
  for (int c = 0; c < communicators; ++c) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  for (int k = 0; k < many; ++k) {
    int sums[communicators] = {-1, -1, -1};
    MPI_Request requests[communicators];
    for (int c = 0; c < communicators; ++c)
      MPI_Iallreduce(&check_rank, &sums[c], 1, MPI_INT, MPI_SUM, comms[c], &requests[c]);
    for (int c = 0; c < communicators; ++c) {
      MPI_Wait(&requests[(c + k) % communicators], MPI_STATUS_IGNORE);
      CHECK(sums[(c + k) % communicators] == size * (size - 1) / 2);
    }
  }
  for (int c = 0; c < communicators; ++c) MPI_Comm_free(&comms[c]);
}

static void blocking_calls_before_its_wait(void) {
  for (int k = 0; k < 20; ++k) {
    int sum = -1, other;
    MPI_Request request;
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < many; ++i) {
      other = check_rank == i % size ? i : -1;
      MPI_Bcast(&other, 1, MPI_INT, i % size, MPI_COMM_WORLD);
      CHECK(other == i);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
  }
}

// Which another one, of another communicator and not yet over, needs to go on.
static void beside_a_large_one(void) {
  MPI_Comm comm;
  MPI_Request large;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < long_vector; ++i) in[i] = check_rank;
  MPI_Iallreduce(in, out, long_vector, MPI_INT, MPI_SUM, comm, &large);
  again_and_again();
  MPI_Wait(&large, MPI_STATUS_IGNORE);
  for (int i = 0; i < long_vector; ++i) CHECK(out[i] == size * (size - 1) / 2);
  MPI_Comm_free(&comm);
}

// Of plain data: the type is not needed any more.
static void with_a_freed_type(void) {
  for (int k = 0; k < 20; ++k) {
    MPI_Datatype pair;
    MPI_Request request;
    int told[2] = {check_rank == 0 ? k : -1, check_rank == 0 ? -k : 1};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Ibcast(told, 1, pair, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&pair);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(told[0] == k && told[1] == -k);
  }
}

// The wait lasts longer than anybody looks closely.
static void waited_for_long(void) {
  for (int late = 0; late < size; ++late) {
    int sum = -1;
    MPI_Request request;
    if (check_rank == late) nap(50);
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(again_and_again),          CASE(a_second_one),
    CASE(one_of_each_communicator), CASE(blocking_calls_before_its_wait),
    CASE(beside_a_large_one),       CASE(with_a_freed_type),
    CASE(waited_for_long),
#undef CASE
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
    context("%s", cases[i].name);
    if (i > 0) MPI_Barrier(MPI_COMM_WORLD);
    cases[i].run();
  }
  return check_finish("nonblocking_alone");
}
