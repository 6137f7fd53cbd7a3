// A communicator's only non-blocking operation of small data, which nobody but its wait goes on with until
// something else happens: another start, blocking calls, a freed type, a long wait; and the same one again
// and again. Argument 1: only the case of this name.
#include <time.h>

#include "check.h"

enum { long_vector = 200000, many = 300 };
static int size;
static int in[long_vector], out[long_vector];

static int sum_of_ranks(void) {
  return size * (size - 1) / 2;
}

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
    CHECK(request == MPI_REQUEST_NULL && sum == sum_of_ranks());
  }
}

// ---- the same call once more
// The buffers are the same, their contents are not.
static void with_other_data(void) {
  int mine, sum;
  MPI_Request request;
  for (int k = 0; k < many; ++k) {
    mine = check_rank + k;
    sum = -1;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == sum_of_ranks() + k * size);
  }
}

// Nearly the same: one argument is another one in every turn.
static void with_other_arguments(void) {
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX};
  MPI_Request request;
  for (int k = 0; k < many; ++k) {
    const int n = 1 + k / 3 % 3, root = k / 2 % size, at = k / 5 % 2;
    for (int i = 0; i < 8; ++i) in[i] = check_rank + i, out[i] = -1;
    MPI_Iallreduce(&in[at], &out[at], n, MPI_INT, ops[k / 2 % 2], MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; ++i) {
      const int result = k / 2 % 2 ? size - 1 + i : sum_of_ranks() + i * size;
      CHECK(out[i] == (i >= at && i < at + n ? result : -1));
    }
    MPI_Ireduce(&in[at], &out[0], 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (check_rank == root) CHECK(out[0] == sum_of_ranks() + at * size);
  }
}

// A type's handle may be that of an earlier, freed one.
static void with_types_of_other_sizes(void) {
  MPI_Request request;
  for (int k = 0; k < many; ++k) {
    const int n = 1 + k % 4;
    MPI_Datatype type;
    MPI_Type_contiguous(n, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 4; ++i) in[i] = check_rank == 0 ? k + i : -1;
    for (int again = 0; again < 2; ++again) {
      MPI_Ibcast(in, 1, type, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < 4; ++i) CHECK(in[i] == (check_rank == 0 || i < n ? k + i : -1));
    }
    MPI_Type_free(&type);
  }
}

// A communicator's handle may be that of an earlier, freed one.
static void on_new_communicators(void) {
  int sum;
  MPI_Request request;
  for (int k = 0; k < 20; ++k) {
    MPI_Comm comm;
    if (k % 2)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, size - check_rank, &comm);
    MPI_Barrier(comm);
    for (int again = 0; again < 3; ++again) {
      sum = -1;
      MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(sum == sum_of_ranks());
    }
    if (k % 3)
      MPI_Comm_free(&comm);
    else
      MPI_Comm_disconnect(&comm);
  }
}

static int sum_when_freed;
static int use_once_more(MPI_Comm comm, int key, void* value, void* state) {
  MPI_Request request;
  (void)key, (void)value, (void)state;
  MPI_Iallreduce(&check_rank, &sum_when_freed, 1, MPI_INT, MPI_SUM, comm, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// By a callback of the program's while it is freed.
static void on_freed_communicators(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_once_more, &key, NULL);
  for (int k = 0; k < 10; ++k) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_set_attr(comm, key, NULL);
    for (int again = 0; again < 3; ++again) use_once_more(comm, key, NULL, NULL);
    sum_when_freed = -1;
    MPI_Comm_free(&comm);
    CHECK(sum_when_freed == sum_of_ranks());
  }
  MPI_Comm_free_keyval(&key);
}

// What blocking calls find out meanwhile may change how non-blocking ones run.
static void among_blocking_calls(void) {
  static int other[1024], sums[1024];
  MPI_Request request;
  for (int n = 1; n <= 1024; n *= 4) {
    for (int k = 0; k < many; ++k) {
      for (int i = 0; i < n; ++i) in[i] = check_rank + i + k, other[i] = check_rank - i - k;
      MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Allreduce(other, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < n; ++i) {
        CHECK(out[i] == sum_of_ranks() + (i + k) * size);
        CHECK(sums[i] == sum_of_ranks() - (i + k) * size);
      }
    }
  }
}

static void completed_in_any_way(void) {
  int sum, done;
  for (int k = 0; k < many; ++k) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    sum = -1, done = 0;
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    switch (k / 2 % 4) {
      case 0:
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
      case 1:
        while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        break;
      case 2:
        while (!done) MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
      default:
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    CHECK(requests[0] == MPI_REQUEST_NULL && sum == sum_of_ranks());
  }
}

// ---- with something else
// The second one is started while the first has not been looked at; either may be waited for first.
static void a_second_one(void) {
  for (int k = 0; k < many; ++k) {
    const int root = k % size, first = k & 1;
    int sum = -1, told = check_rank == root ? k : -1;
    MPI_Request requests[2];
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[first], MPI_STATUS_IGNORE);
    CHECK(first ? told == k : sum == sum_of_ranks());
    MPI_Wait(&requests[!first], MPI_STATUS_IGNORE);
    CHECK(told == k && sum == sum_of_ranks());
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
      CHECK(sums[(c + k) % communicators] == sum_of_ranks());
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
    CHECK(sum == sum_of_ranks());
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
  for (int i = 0; i < long_vector; ++i) CHECK(out[i] == sum_of_ranks());
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
    CHECK(sum == sum_of_ranks());
  }
}

static const struct check_case cases[] = {
#define CASE(name) {#name, name}
    CASE(again_and_again),
    CASE(with_other_data),
    CASE(with_other_arguments),
    CASE(with_types_of_other_sizes),
    CASE(on_new_communicators),
    CASE(on_freed_communicators),
    CASE(among_blocking_calls),
    CASE(completed_in_any_way),
    CASE(a_second_one),
    CASE(one_of_each_communicator),
    CASE(blocking_calls_before_its_wait),
    CASE(beside_a_large_one),
    CASE(with_a_freed_type),
    CASE(waited_for_long),
#undef CASE
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_cases(argc, argv, cases, sizeof cases / sizeof *cases);
  return check_finish("nonblocking_alone");
}
