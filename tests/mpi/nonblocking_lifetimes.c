// What a program may do to the objects of a non-blocking collective while it is under way: free its
// communicator, its type, its operation, its request; start hundreds more; start it long before the others
// come; make it a communicator's first call. Argument 1: only the case of this name.
#include <time.h>

#include "check.h"

static int size;

static void nap(int milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000L};
  nanosleep(&time, NULL);
}

static void fill(int* data, int n, int value) {
  for (int i = 0; i < n; ++i) data[i] = value + i;
}

static int all_are(const int* data, int n, int first, int step) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= data[i] == first + i * step;
  return right;
}

// Of what every rank has filled with its number.
static int is_sum(const int* data, int n) {
  return all_are(data, n, size * (size - 1) / 2, size);
}

enum { short_vector = 5, long_vector = 200000, many = 300 };
static int in[long_vector], out[long_vector];

// ---- freed communicators
static void free_with_pending(int n) {
  MPI_Comm comm;
  MPI_Request requests[2];
  int root = size - 1, told = check_rank == root ? 4711 : 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  fill(in, n, check_rank);
  MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Ibcast(&told, 1, MPI_INT, root, comm, &requests[1]);
  MPI_Comm_free(&comm);
  CHECK(comm == MPI_COMM_NULL);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(is_sum(out, n));
  CHECK(told == 4711);
}
static void freed_communicator(void) {
  free_with_pending(short_vector);
  free_with_pending(long_vector);
}

// The last rank comes to the operation late: MPI_Comm_free may wait for it, but has to return.
static void freed_before_the_others_start(void) {
  MPI_Comm comm;
  MPI_Request request;
  int sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (check_rank == size - 1) nap(200);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
}

static void freed_and_made_again(void) {
  for (int k = 0; k < 30; ++k) {
    MPI_Comm comm;
    MPI_Request request;
    int sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Iallreduce(&k, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * k);
  }
}

// MPI frees what is on the communicator. The request is not: no other one has its handle until it is waited
// for.
static void disconnected_communicator(void) {
  enum { receives = 4 };
  MPI_Comm comm;
  MPI_Request pending, requests[receives];
  const int next = (check_rank + 1) % size, previous = (check_rank + size - 1) % size;
  int sum = 0, got[receives];
  if (size == 1) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &pending);
  MPI_Comm_disconnect(&comm);
  CHECK(comm == MPI_COMM_NULL && pending != MPI_REQUEST_NULL);
  for (int i = 0; i < receives; ++i) {
    got[i] = -1;
    MPI_Recv_init(&got[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
    CHECK(requests[i] != pending);
  }
  MPI_Startall(receives, requests);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  CHECK(pending == MPI_REQUEST_NULL && sum == size * (size - 1) / 2);
  for (int i = 0; i < receives; ++i) {
    const int own = 10 * check_rank + i;
    MPI_Send(&own, 1, MPI_INT, next, i, MPI_COMM_WORLD);
  }
  MPI_Waitall(receives, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < receives; ++i) {
    CHECK(got[i] == 10 * previous + i);
    MPI_Request_free(&requests[i]);
  }
}

// ---- freed types and operations
static void freed_type(void) {
  MPI_Datatype every_other;
  MPI_Request request;
  int data[2 * short_vector] = {0};
  MPI_Type_vector(short_vector, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < short_vector; ++i) data[2 * i] = check_rank == 0 ? 100 + i : -1;
  if (check_rank == 0) nap(50);
  MPI_Ibcast(data, 1, every_other, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&every_other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < short_vector; ++i) CHECK(data[2 * i] == 100 + i && data[2 * i + 1] == 0);
}

// Another type takes the freed one's handle.
static void freed_type_whose_handle_comes_back(void) {
  MPI_Datatype every_other, contiguous;
  MPI_Request request;
  int data[2 * short_vector], right = 1;
  for (int i = 0; i < 2 * short_vector; ++i) data[i] = check_rank == 0 ? i : -1;
  MPI_Type_vector(short_vector, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  if (check_rank == 0) nap(50);
  MPI_Ibcast(data, 1, every_other, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&every_other);
  MPI_Type_contiguous(2 * short_vector, MPI_INT, &contiguous);
  MPI_Type_commit(&contiguous);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * short_vector; ++i) right &= data[i] == (i % 2 == 0 || check_rank == 0 ? i : -1);
  CHECK(right);
  MPI_Type_free(&contiguous);
}

static void keep_left(void* left, void* right, int* n, MPI_Datatype* type) {
  (void)type;
  memcpy(right, left, (size_t)*n * sizeof(int));
}

static void freed_operation(int n) {
  MPI_Op left;
  MPI_Request request;
  MPI_Op_create(keep_left, 0, &left);
  fill(in, n, 7 + check_rank);
  if (check_rank == 0) nap(50);
  MPI_Iallreduce(in, out, n, MPI_INT, left, MPI_COMM_WORLD, &request);
  MPI_Op_free(&left);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(all_are(out, n, 7, 1));
}
static void freed_operations(void) {
  freed_operation(short_vector);
  freed_operation(long_vector);
}

// Several of each at once, of operations of several communicators; the youngest are waited for first.
static void add_every_other(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n * 2 * short_vector; i += 2) ((int*)inout)[i] += ((const int*)in)[i];
}
struct own_sum {
  MPI_Comm comm;
  MPI_Datatype every_other;
  MPI_Op add;
  int in[2 * short_vector], out[2 * short_vector];
};
static void make_objects(struct own_sum* s, int number) {
  MPI_Datatype vector;
  MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
  MPI_Type_vector(short_vector, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * short_vector * sizeof(int), &s->every_other);
  MPI_Type_commit(&s->every_other);
  MPI_Type_free(&vector);
  MPI_Op_create(add_every_other, 1, &s->add);
  fill(s->in, 2 * short_vector, check_rank + number);
  memset(s->out, 0, sizeof s->out);
}
static int is_own_sum(const struct own_sum* s, int number) {
  int right = 1;
  for (int i = 0; i < 2 * short_vector; ++i)
    right &= s->out[i] == (i % 2 == 0 ? size * (size - 1) / 2 + size * (number + i) : 0);
  return right;
}
static void freed_together(void) {
  enum { operations = 6 };
  struct own_sum sums[operations];
  MPI_Request requests[operations];
  for (int k = 0; k < operations; ++k) make_objects(&sums[k], k);
  if (check_rank == 0) nap(50);
  for (int k = 0; k < operations; ++k)
    MPI_Iallreduce(sums[k].in, sums[k].out, 1, sums[k].every_other, sums[k].add, sums[k].comm, &requests[k]);
  for (int k = 0; k < operations; ++k) {
    MPI_Type_free(&sums[k].every_other);
    MPI_Op_free(&sums[k].add);
    CHECK(sums[k].every_other == MPI_DATATYPE_NULL && sums[k].add == MPI_OP_NULL);
  }
  for (int k = 0; k < operations; ++k) MPI_Comm_free(&sums[k].comm);
  for (int k = operations - 1; k >= 0; --k) {
    MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    CHECK(is_own_sum(&sums[k], k));
  }
}

// While an older operation, which the last rank starts last, goes on.
static void freed_beside_an_older_one(void) {
  enum { turns = 20 };
  struct own_sum older, younger;
  MPI_Request requests[2];
  make_objects(&older, 0);
  make_objects(&younger, 1);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Datatype twin;
    memset(younger.out, 0, sizeof younger.out);
    if (turn == (check_rank == size - 1 ? turns - 1 : 0))
      MPI_Iallreduce(older.in, older.out, 1, older.every_other, older.add, older.comm, &requests[0]);
    MPI_Type_dup(younger.every_other, &twin);
    MPI_Iallreduce(younger.in, younger.out, 1, twin, younger.add, younger.comm, &requests[1]);
    MPI_Type_free(&twin);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(is_own_sum(&younger, 1));
  }
  MPI_Type_free(&older.every_other);
  MPI_Op_free(&older.add);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(is_own_sum(&older, 0));
  MPI_Comm_free(&older.comm);
  MPI_Comm_free(&younger.comm);
  MPI_Type_free(&younger.every_other);
  MPI_Op_free(&younger.add);
}

// ---- freed requests
// MPI forbids it, and the MPIs' own requests do not all survive it; Hocket's do.
static void freed_request(void) {
  static int told[many];
  if (size == 1) return;
  for (int k = 0; k < 20; ++k) {
    MPI_Request request;
    told[k] = check_rank == 0 ? 100 + k : -1;
    MPI_Ibcast(&told[k], 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < 20; ++k)
    while (*(volatile int*)&told[k] != 100 + k) {
      int flag;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

// MPI_Finalize completes it.
static int last_sum[long_vector];
static void freed_and_left_for_finalize(void) {
  MPI_Request request;
  if (size == 1) return;
  fill(in, long_vector, check_rank);
  MPI_Iallreduce(in, last_sum, long_vector, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

// ---- many
static void hundreds(void) {
  static int from[many], to[many];
  static MPI_Request requests[many];
  for (int k = 0; k < many; ++k) {
    from[k] = k + check_rank;
    MPI_Iallreduce(&from[k], &to[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < many; ++k) CHECK(to[k] == size * k + size * (size - 1) / 2);
}

static void hundreds_waited_for_backwards(void) {
  static int to[many];
  static MPI_Request requests[many];
  for (int k = 0; k < many; ++k) {
    to[k] = check_rank == k % size ? k : -1;
    MPI_Ibcast(&to[k], 1, MPI_INT, k % size, MPI_COMM_WORLD, &requests[k]);
  }
  for (int k = many - 1; k >= 0; --k) {
    MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    CHECK(to[k] == k);
  }
}

// More data under way than there is shared memory for them.
static void large_ones_together(void) {
  enum { operations = 12, each = long_vector };
  MPI_Request requests[operations];
  int* from = malloc(operations * each * sizeof *from);
  int* to = malloc(operations * each * sizeof *to);
  for (int k = 0; k < operations; ++k) {
    fill(from + k * each, each, k + check_rank);
    MPI_Iallreduce(from + k * each, to + k * each, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  }
  for (int k = operations - 1; k >= 0; --k) {
    MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    CHECK(all_are(to + k * each, each, size * k + size * (size - 1) / 2, size));
  }
  free(from);
  free(to);
}

// ---- early and late
static void one_starts_long_before(void) {
  for (int early = 0; early < size; ++early) {
    MPI_Request requests[3];
    int sum = 0, told = check_rank == early ? early : -1;
    if (check_rank != early) nap(100);
    MPI_Ibcast(&told, 1, MPI_INT, early, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(told == early && sum == size * (size - 1) / 2);
  }
}

// A start waits for nobody.
static void starts_return_at_once(void) {
  MPI_Request requests[80];
  int flag;
  static int sums[80];
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == size - 1 && size > 1) {
    MPI_Recv(&flag, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int k = 0; k < 80; ++k)
    MPI_Iallreduce(&check_rank, &sums[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  if (check_rank == 0 && size > 1) MPI_Send(&size, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD);
  MPI_Waitall(80, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < 80; ++k) CHECK(sums[k] == size * (size - 1) / 2);
}

// ---- first calls
static void first_call_of_a_duplicate(void) {
  MPI_Comm comm;
  MPI_Request requests[2];
  int sum = 0, first = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (check_rank == 0) nap(50);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Iscan(&check_rank, &first, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Barrier(comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == size * (size - 1) / 2 && first == check_rank * (check_rank + 1) / 2);
  MPI_Comm_free(&comm);
}

static void first_call_of_an_unfinished_duplicate(void) {
  MPI_Comm comm;
  MPI_Request requests[3];
  int sum = 0;
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
  sum = 0;
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_free(&comm);
}

// The very first call of the program, before this one.
static void first_call_of_the_world(void) {
  MPI_Request requests[2];
  int sum = 0, told = check_rank == 0 ? 12 : 0;
  if (check_rank == 0) nap(50);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == size * (size - 1) / 2 && told == 12);
}

// ---- calls that ask about one
static void refused(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_REQUEST);
}

static void started_and_cancelled(void) {
  MPI_Request request, unchanged;
  int sum = 0;
  if (size == 1) return;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  unchanged = request;
  refused(MPI_Start(&request));
  refused(MPI_Cancel(&request));
  CHECK(request == unchanged);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

// By an extension of MPICH 5, which its kin lack.
static void looked_at(void) {
  int (*is_complete)(MPI_Request);
  MPI_Request request;
  int sum = 0;
  find_in_hocket("MPIX_Request_is_complete", &is_complete);
  if (size == 1 || !is_complete) return;
  if (check_rank == size - 1) MPI_Recv(&sum, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (check_rank == 0) {
    CHECK(!is_complete(request));
    MPI_Send(&sum, 0, MPI_INT, size - 1, 4, MPI_COMM_WORLD);
  }
  for (int done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  CHECK(is_complete(request));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2);
}

// ---- nothing to do
static void no_data(void) {
  MPI_Request requests[6];
  static int none[1], nothing[1];
  const int* zeros = calloc((size_t)size, sizeof *zeros);
  MPI_Ibcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(none, nothing, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Ialltoall(none, 0, MPI_INT, nothing, 0, MPI_INT, MPI_COMM_WORLD, &requests[2]);
  MPI_Ialltoallv(none, zeros, zeros, MPI_INT, nothing, zeros, zeros, MPI_INT, MPI_COMM_WORLD, &requests[3]);
  MPI_Ireduce_scatter(none, nothing, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[5]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 6; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  free((void*)zeros);
}

static const struct check_case cases[] = {
#define CASE(name) {#name, name}
    CASE(first_call_of_the_world),
    CASE(first_call_of_a_duplicate),
    CASE(first_call_of_an_unfinished_duplicate),
    CASE(started_and_cancelled),
    CASE(looked_at),
    CASE(no_data),
    CASE(one_starts_long_before),
    CASE(starts_return_at_once),
    CASE(hundreds),
    CASE(hundreds_waited_for_backwards),
    CASE(large_ones_together),
    CASE(freed_communicator),
    CASE(freed_before_the_others_start),
    CASE(freed_and_made_again),
    CASE(disconnected_communicator),
    CASE(freed_type),
    CASE(freed_type_whose_handle_comes_back),
    CASE(freed_operations),
    CASE(freed_together),
    CASE(freed_beside_an_older_one),
    CASE(freed_request),
    CASE(freed_and_left_for_finalize),
#undef CASE
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_cases(argc, argv, cases, sizeof cases / sizeof *cases);
  return check_finish("nonblocking_lifetimes");
}
