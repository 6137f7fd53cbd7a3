// Random collectives that the network reduces, while dev/with_faulty_switches.py breaks it: every result is
// compared with what the program makes of all ranks' data itself. Communicators are made anew every now and
// then, so that there are groups again. Argument 1 repeats a printed seed, TEST_CALLS sets the number of
// calls.
#include <time.h>

#include "random_calls.h"

static int number_in(const char* variable, int preset) {
  const char* const text = getenv(variable);
  return text ? (int)strtol(text, NULL, 10) : preset;
}

// The nodes of the job take turns at the leaves of TEST_LEAVES. Before MPI_Init.
static void go_to_leaf(void) {
  const int rank = number_in("OMPI_COMM_WORLD_RANK", number_in("PMI_RANK", 0));
  const int node = rank / number_in("HOCKET_NODE_SIZE", 1);
  const char* const all = getenv("TEST_LEAVES");
  char* const leaves = all ? strdup(all) : NULL;
  char* const first = leaves ? strtok(leaves, " ") : NULL;
  char* const second = first ? strtok(NULL, " ") : NULL;
  if (second) setenv("HOCKET_SWITCH", node % 2 ? second : first, 1);
  free(leaves);
}

// From now on switches may fail.
static void say_started(void) {
  const char* const name = getenv("TEST_STARTED");
  FILE* const file = name && check_rank == 0 ? fopen(name, "w") : NULL;
  if (file) fclose(file);
}

static const struct collective* draw_collective(void) {
  const struct collective* collective;
  do collective = &collectives[draw(collective_count)];
  while (collective->run != allreduce && collective->run != reduce && collective->run != bcast &&
         collective->run != barrier);
  return collective;
}

static unsigned char* data_of(const struct call* c, int rank, int salt) {
  struct call its = *c;
  its.rank = rank;
  return filled(&its, small, salt);
}

// Of all ranks, in their order.
static unsigned char* reduced(const struct call* c, int salt) {
  unsigned char* sum = data_of(c, c->size - 1, salt);
  for (int r = c->size - 2; r >= 0; --r) {
    unsigned char* one = data_of(c, r, salt);
    MPI_Reduce_local(one, sum, c->count, type_of(c), op_of(c));
    free(one);
  }
  return sum;
}

// Null: nothing is said of this rank's buffer.
static unsigned char* expected(const struct call* c, int salt) {
  if (is(c, bcast)) return data_of(c, c->root, salt);
  if (is(c, allreduce) || c->rank == c->root) return reduced(c, salt);
  return NULL;
}

static void run_call(int k, const struct call* c) {
  const int in_is_out =
      is(c, bcast) ? c->rank == c->root : c->in_place && (is(c, allreduce) || c->rank == c->root);
  unsigned char* in = data_of(c, c->rank, k);
  unsigned char* out = in_is_out ? data_of(c, c->rank, k) : data_of(c, c->rank, k + 3);
  unsigned char* right = expected(c, k);
  c->collective->run(c, in, out);
  struct call shown = *c;
  shown.room = (size_t)c->count;
  if (right) CHECK(same(&shown, right, out));
  free(right);
  free(in);
  free(out);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// All ranks are on one machine, and have one clock: nobody leaves before the last one has come.
static void run_barrier(const struct call* c) {
  double times[2] = {seconds(), 0}, theirs[2];
  MPI_Barrier(c->comm);
  times[1] = seconds();
  if (c->rank > 0) MPI_Send(times, 2, MPI_DOUBLE, 0, 1, c->comm);
  if (c->rank > 0) return;
  for (int r = 1; r < c->size; ++r) {
    MPI_Recv(theirs, 2, MPI_DOUBLE, r, 1, c->comm, MPI_STATUS_IGNORE);
    if (theirs[0] > times[0]) times[0] = theirs[0];
    if (theirs[1] < times[1]) times[1] = theirs[1];
  }
  CHECK(times[0] <= times[1]);
}

static void run_one(int k) {
  const struct collective* collective = draw_collective();
  struct call c = draw_call(collective, collective->reduces ? ~0U : 0);
  c.room = (size_t)c.count + 1;
  context("call %d: %s of %d %s, %s, on %s, size=%d root=%d in_place=%d", k, collective->name, c.count,
          c.element->name, collective->reduces ? c.operation->name : "-", c.comm_name, c.size, c.root,
          c.in_place);
  if (is(&c, barrier))
    run_barrier(&c);
  else
    run_call(k, &c);
}

static void say_what_the_network_did(void) {
  char* text = hocket_report();
  for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    if (strstr(line, "in the network") || strstr(line, "network has failed")) printf("%s\n", line);
  free(text);
}

int main(int argc, char** argv) {
  int size = 0;
  go_to_leaf();
  check_start(&argc, &argv);
  say_started();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = number_in("TEST_CALLS", 200);
  state = check_seed(argc, argv);
  size_classes = 9;
  make_elements();
  make_operations();
  make_comms(size);
  int renewal = 20;
  for (int k = 0; k < calls; ++k) {
    if (k == renewal) {
      renewal += 1 + (int)draw(40);
      free_comms();
      make_comms(size);
    }
    run_one(k);
  }
  free_comms();
  free_elements_and_operations();
  if (check_rank == 0) {
    printf("%d calls\n", calls);
    say_what_the_network_did();
  }
  return check_finish("aggregation_faults");
}
