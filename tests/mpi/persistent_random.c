// Random persistent collectives, several of them started again and again with other data, in another order on
// every rank where MPI allows that, and compared with what the MPI's blocking collectives make of the same
// data. Argument 1 repeats a printed seed, argument 2 sets the number of rounds.
#include "random_calls.h"

enum { together = 6, starts = 4 };

struct kept {
  struct call call;
  unsigned char *in, *out, *expected;
};
static struct kept kept[together];
static MPI_Request requests[together];

static void say_which(int round, const struct call* c) {
  context("round %d: %s of %d %s, %s, on %s, size=%d root=%d in_place=%d", round, c->collective->name,
          c->count, c->element->name, c->collective->reduces ? c->operation->name : "-", c->comm_name,
          c->size, c->root, c->in_place);
}

static size_t bytes_of(const struct call* c) {
  return c->room * c->element->extent;
}

static void make(struct kept* k, MPI_Request* request) {
  const struct collective* collective = &collectives[draw(collective_count)];
  k->call = draw_call(collective, collective->reduces ? ~0U : 0);
  k->in = calloc(k->call.room, k->call.element->extent);
  k->out = calloc(k->call.room, k->call.element->extent);
  control("on");
  collective->keep(&k->call, k->in, k->out, request);
  control("off");
}

static void drop(struct kept* k, MPI_Request* request) {
  MPI_Request_free(request);
  CHECK(*request == MPI_REQUEST_NULL);
  free(k->in);
  free(k->out);
}

static void fill_anew(struct kept* k, int salt) {
  unsigned char *in = filled(&k->call, small, salt), *out = filled(&k->call, small, salt + 3);
  memcpy(k->in, in, bytes_of(&k->call));
  memcpy(k->out, out, bytes_of(&k->call));
  free(in);
  free(out);
  k->expected = reference(&k->call, salt);
}

static void compare(struct kept* k, int round) {
  say_which(round, &k->call);
  CHECK(same(&k->call, k->expected, k->out));
  CHECK(same_gaps(&k->call, k->expected, k->out));
  free(k->expected);
}

// In which order a rank starts them, and waits for them, is its own business.
static void shuffle(int* order, int n) {
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) {
    const int other = (int)own_draw((unsigned)i + 1), which = order[i];
    order[i] = order[other], order[other] = which;
  }
}

static void start_and_wait(int round, int n) {
  int order[together];
  for (int i = 0; i < n; ++i) fill_anew(&kept[i], round + i);
  shuffle(order, n);
  if (round % 2)
    MPI_Startall(n, requests);
  else
    for (int i = 0; i < n; ++i) MPI_Start(&requests[order[i]]);
  shuffle(order, n);
  for (int i = 0; i < n; ++i) {
    const int which = order[i];
    MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    compare(&kept[which], round);
  }
}

int main(int argc, char** argv) {
  int size = 0;
  if (!start_beside_hocket(&argc, &argv, &size)) return 77;
  const int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 40;
  state = check_seed(argc, argv);
  own_state = state + (unsigned long long)check_rank * 7919;
  make_elements();
  make_operations();
  make_comms(size);
  for (int round = 0; control && round < rounds; ++round) {
    for (int i = 0; i < together; ++i) make(&kept[i], &requests[i]);
    for (int again = 0; again < starts; ++again) start_and_wait(round + again, together);
    for (int i = 0; i < together; ++i) drop(&kept[i], &requests[i]);
  }
  free_comms();
  free_elements_and_operations();
  return check_finish("persistent_random");
}
