// What operations that the node's worker carries out leave behind: communicators and persistent requests by
// the thousand, buffers whose addresses come again as other memory, more operations than there are words for,
// and processes that the program forks. Argument 1: only the case of this name.
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "persistent_names.h"
#include "worker_process.h"

static int size;

static int sum_of_ranks(void) {
  return size * (size - 1) / 2;
}

static int are_sums(const int* data, int n, int value) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= data[i] == sum_of_ranks() + size * (value + i);
  return right;
}

static void fill(int* data, int n, int value) {
  for (int i = 0; i < n; ++i) data[i] = check_rank + value + i;
}

// Of the worker, in KiB; 0 on other ranks than the first.
static long resident_kib(void) {
  char path[64], line[256];
  long kib = 0;
  if (check_rank != 0) return 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)worker_process());
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  if (file) fclose(file);
  CHECK(kib > 0);
  return kib;
}

// It has had time to free what the calls so far had.
static long settled_kib(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return resident_kib();
}

static void expect_no_growth(const char* what, long before_kib, long most_kib) {
  const long now = settled_kib();
  context("%s: the worker has grown from %ld to %ld KiB", what, before_kib, now);
  if (check_rank == 0) printf("%s\n", check_context);
  CHECK(now - before_kib < most_kib);
}

// ---- by the thousand
enum { communicators = 1000, warm = 100, vector = 2000 };

// What is not freed of each would be its two vectors at least: 16 MB on each rank.
static void a_thousand_communicators(void) {
  static int in[vector], out[vector];
  long before = 0;
  for (int k = 0; k < communicators; ++k) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill(in, vector, k);
    MPI_Iallreduce(in, out, vector, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(are_sums(out, vector, k));
    MPI_Comm_free(&comm);
    if (k == warm) before = settled_kib();
  }
  expect_no_growth("communicators", before, 4000);
}

// Some of them are never started.
static void a_thousand_persistent_requests(void) {
  static int in[vector], out[vector];
  long before = 0;
  for (int k = 0; k < communicators; ++k) {
    MPI_Request request;
    MPI_Allreduce_init(in, out, vector, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int start = 0; start < k % 3; ++start) {
      fill(in, vector, k + start);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(are_sums(out, vector, k + start));
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    if (k == warm) before = settled_kib();
  }
  expect_no_growth("persistent requests", before, 4000);
}

// Each call has buffers of its own, on one communicator.
static void a_thousand_buffers(void) {
  enum { each = 20000 };
  int* in = malloc(sizeof(int) * (each + 1000));
  int* out = malloc(sizeof(int) * (each + 1000));
  long before = 0;
  for (int k = 0; k < 1000; ++k) {
    MPI_Request request;
    fill(in + k, each, k);
    MPI_Iallreduce(in + k, out + k, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(are_sums(out + k, each, k));
    if (k == 200) before = settled_kib();
  }
  expect_no_growth("buffers", before, 64000);
  free(in);
  free(out);
}

// ---- addresses that come again
// A collective on `n` numbers here, of a kind that `round` draws, the same on all ranks.
static void use(int* data, int n, int round) {
  MPI_Request request;
  const int half = n / 2, block = half / size, root = round % size;
  int right = 1;
  context("round %d, %d numbers", round, n);
  switch (round % 4) {
    case 0:
      fill(data, half, round);
      MPI_Iallreduce(data, data + half, half, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
      break;
    case 1:
      fill(data, n, check_rank == root ? round - root : -1000);
      MPI_Ibcast(data, n, MPI_INT, root, MPI_COMM_WORLD, &request);
      break;
    case 2:
      fill(data, half, round);
      MPI_Ialltoall(data, block, MPI_INT, data + half, block, MPI_INT, MPI_COMM_WORLD, &request);
      break;
    default:
      fill(data, n, round);
      MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (round % 4 == 0) right = are_sums(data + half, half, round);
  if (round % 4 == 1)
    for (int i = 0; i < n; ++i) right &= data[i] == round + i;
  if (round % 4 == 2)
    for (int from = 0; from < size; ++from)
      for (int i = 0; i < block; ++i)
        right &= data[half + from * block + i] == from + round + check_rank * block + i;
  if (round % 4 == 3) right = are_sums(data, n, round);
  CHECK(right);
}

static unsigned drawn(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

// Pages at one address, mapped anew for every call: zeros, and then other data.
static void mapped_again(void) {
  enum { rounds = 80 };
  const size_t room = (size_t)4 << 20;
  unsigned state = 12345;
  char* place = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(place != MAP_FAILED);
  munmap(place, room);
  for (int round = 0; round < rounds; ++round) {
    const int n = 4096 + (int)drawn(&state, (unsigned)(room / sizeof(int)) - 4096);
    const int flags = MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | (round % 3 == 0 ? MAP_SHARED : MAP_PRIVATE);
    int* data = mmap(place, (size_t)n * sizeof(int), PROT_READ | PROT_WRITE, flags, -1, 0);
    if (data == MAP_FAILED)  // somebody else is there now
      data = mmap(NULL, (size_t)n * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(data != MAP_FAILED);
    use(data, n, round);
    munmap(data, (size_t)n * sizeof(int));
  }
}

// Blocks of the heap, freed and grown right after each call.
static void allocated_again(void) {
  enum { rounds = 120 };
  unsigned state = 777;
  int* kept = NULL;
  for (int round = 0; round < rounds; ++round) {
    const int n = 2 * size + (int)drawn(&state, round % 5 == 0 ? 300000 : 3000);
    int* fresh = malloc((size_t)n * sizeof(int));
    use(fresh, n, round);
    free(fresh);
    kept = realloc(kept, (size_t)n * sizeof(int));
    use(kept, n, round + 1);
  }
  free(kept);
}

// The same addresses again and again, as different variables of functions at different depths.
static void use_stack(int depth, int n, int round) {
  int data[n];
  if (depth > 0) use_stack(depth - 1, n / 2 + 2 * size, round + 1);
  use(data, n, round);
}
static void stacked_again(void) {
  unsigned state = 99;
  for (int round = 0; round < 40; ++round)
    use_stack((int)drawn(&state, 4), 100 + (int)drawn(&state, 20000), round);
}

// ---- more than there are words for
// In another order on every other rank: each needs what the others have started last.
static void thousands_in_two_orders(void) {
  enum { each = 1500 };
  static int from[2][each], to[2][each];
  static MPI_Request requests[2][each];
  MPI_Comm comms[2];
  for (int c = 0; c < 2; ++c) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  for (int turn = 0; turn < 2; ++turn) {
    const int c = (turn + check_rank) % 2;
    for (int k = 0; k < each; ++k) {
      from[c][k] = check_rank + k + c;
      MPI_Iallreduce(&from[c][k], &to[c][k], 1, MPI_INT, MPI_SUM, comms[c], &requests[c][k]);
    }
  }
  for (int c = 0; c < 2; ++c) {
    int right = 1;
    MPI_Waitall(each, requests[c], MPI_STATUSES_IGNORE);
    for (int k = 0; k < each; ++k) right &= to[c][k] == sum_of_ranks() + size * (k + c);
    CHECK(right);
    MPI_Comm_free(&comms[c]);
  }
}

// ---- processes that are no ranks
enum ending { by_exit, by_exec };

static void fork_and_wait(enum ending how) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    if (how == by_exec) execl("/bin/true", "true", (char*)NULL);
    _exit(how == by_exec ? 127 : 0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static int number_in[vector], number_out[vector];

static void expect_right_sum(MPI_Request* request, int value) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  CHECK(are_sums(number_out, vector, value));
}

static void forked_while_nothing_is_under_way(void) {
  for (int k = 0; k < 6; ++k) {
    MPI_Request request;
    fork_and_wait(k % 2 == 0 ? by_exit : by_exec);
    fill(number_in, vector, k);
    MPI_Iallreduce(number_in, number_out, vector, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    expect_right_sum(&request, k);
  }
}

// The last rank starts it when all others have had their child.
static void forked_while_something_is_under_way(void) {
  const int last = size - 1;
  for (int k = 0; k < 6; ++k) {
    MPI_Request request;
    fill(number_in, vector, k);
    if (check_rank == last)
      for (int r = 0; r < last; ++r) MPI_Recv(NULL, 0, MPI_INT, r, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(number_in, number_out, vector, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    fork_and_wait(k % 2 == 0 ? by_exit : by_exec);
    if (check_rank != last) MPI_Send(NULL, 0, MPI_INT, last, 5, MPI_COMM_WORLD);
    expect_right_sum(&request, k);
  }
}

// Pages that both have until one of them writes: the result is the parent's.
static void forked_child_lives_on(void) {
  int ends[2], status = -1;
  MPI_Request request;
  CHECK(pipe(ends) == 0);
  fill(number_in, vector, 3);
  memset(number_out, 0, sizeof number_out);
  const pid_t child = fork();
  if (child == 0) {
    char mark;
    close(ends[1]);
    const int ended = read(ends[0], &mark, 1) == 0;  // the parent has closed its end
    int untouched = ended;
    for (int i = 0; i < vector; ++i) untouched &= number_out[i] == 0;
    _exit(untouched ? 0 : 1);
  }
  close(ends[0]);
  MPI_Iallreduce(number_in, number_out, vector, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  expect_right_sum(&request, 3);
  close(ends[1]);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void expect_worker_has_done_it(void) {
  char* text = hocket_report();
  CHECK(strstr(text, "by the node's worker") != NULL);
  free(text);
}

static const struct check_case cases[] = {
#define CASE(name) {#name, name}
    CASE(a_thousand_communicators),
    CASE(a_thousand_persistent_requests),
    CASE(a_thousand_buffers),
    CASE(mapped_again),
    CASE(allocated_again),
    CASE(stacked_again),
    CASE(thousands_in_two_orders),
    CASE(forked_while_nothing_is_under_way),
    CASE(forked_while_something_is_under_way),
    CASE(forked_child_lives_on),
#undef CASE
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_cases(argc, argv, cases, sizeof cases / sizeof *cases);
  context("all");
  expect_worker_has_done_it();
  return check_finish("worker_lifetimes");
}
