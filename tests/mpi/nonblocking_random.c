// Many non-blocking collectives under way at the same time, on several communicators, between blocking ones
// and point-to-point messages; completed in another order on every rank, by all forms of waits and tests, and
// compared with what the MPI's blocking collectives make of the same data. Argument 1 repeats a printed seed,
// argument 2 sets the number of rounds.
#include <time.h>

#include "completion.h"
#include "random_calls.h"

enum { most_outstanding = 24, few = 4, message = 3000, tag = 77 };
enum what { a_start, a_blocking_call, a_message, an_intercommunicator };

// Something that has been drawn, and is under way until its requests have completed.
struct pending {
  enum what what;
  struct call call;
  unsigned char *in, *in_before, *out, *expected;
  int k, requests_left;
  int sent[message], received[message];
};
static struct pending pendings[most_outstanding];

// Requests under way on this rank, and whose they are.
static MPI_Request requests[most_requests];
static struct pending* owners[most_requests];
static int under_way;

static void say_which(const struct pending* p) {
  const struct call* c = &p->call;
  context("%d: %s of %d %s, %s, on %s, size=%d root=%d in_place=%d", p->k, c->collective->name, c->count,
          c->element->name, c->collective->reduces ? c->operation->name : "-", c->comm_name, c->size, c->root,
          c->in_place);
}

// ---- an intercommunicator between the two halves: it is the MPI's
static MPI_Comm inter = MPI_COMM_NULL;

static void make_inter(int size) {
  MPI_Comm half;
  if (size < 2) return;
  const int is_low = check_rank < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size / 2 : 0, 5, &inter);
  MPI_Comm_free(&half);
}

// ---- drawing
// A rank may describe the data that it sends as it likes: as many elements, or one type of them. Not where
// the MPI runs it: Intel's MPI_Allgather then gives wrong results.
static void name_otherwise(struct call* c) {
  if (c->count == 0 || c->collective->reduces || check_rank % 2 == 0) return;
  MPI_Type_contiguous(c->count, type_of(c), &c->sent_type);
  MPI_Type_commit(&c->sent_type);
  c->sent = 1;
}

static void draw_pending(struct pending* p, int k) {
  static const unsigned char kinds[] = {a_start, a_start,         a_start,   a_start,
                                        a_start, a_blocking_call, a_message, an_intercommunicator};
  const struct collective* collective = &collectives[draw(collective_count)];
  *p = (struct pending){.what = kinds[draw(sizeof kinds)], .k = k};
  p->call = draw_call(collective, collective->reduces ? ~0U : 0);
  if (p->what == an_intercommunicator && inter == MPI_COMM_NULL) p->what = a_message;
}

// ---- starting
static MPI_Request* new_request(struct pending* p) {
  owners[under_way] = p;
  ++p->requests_left;
  return &requests[under_way++];
}

static void start_collective(struct pending* p) {
  const struct call* c = &p->call;
  name_otherwise(&p->call);
  p->in = filled(c, small, p->k);
  p->in_before = filled(c, small, p->k);
  p->out = filled(c, small, p->k + 3);
  c->collective->start(c, p->in, p->out, new_request(p));
}

static void run_blocking(struct pending* p) {
  unsigned char* found = result(&p->call, small, p->k, "on");
  control("on");
  CHECK(same(&p->call, p->expected, found));
  free(found);
  free(p->expected);
}

// To the right, from the left.
static void start_message(struct pending* p) {
  const struct call* c = &p->call;
  const int right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size;
  const int n = c->count < message ? c->count : message;
  for (int i = 0; i < n; ++i) p->sent[i] = p->k * 1000 + c->rank + i;
  MPI_Irecv(p->received, message, MPI_INT, left, tag, c->comm, new_request(p));
  MPI_Isend(p->sent, n, MPI_INT, right, tag, c->comm, new_request(p));
}

static void start_between(struct pending* p) {
  p->sent[0] = check_rank + p->k;
  MPI_Iallreduce(p->sent, p->received, 1, MPI_INT, MPI_SUM, inter, new_request(p));
}

static void start(struct pending* p) {
  say_which(p);
  switch (p->what) {
    case a_start:
      return start_collective(p);
    case a_blocking_call:
      return run_blocking(p);
    case a_message:
      return start_message(p);
    case an_intercommunicator:
      return start_between(p);
  }
}

// ---- completing
// The buffers are the program's again: it writes to them.
static void end_collective(struct pending* p) {
  struct call* c = &p->call;
  const size_t bytes = c->room * c->element->extent;
  CHECK(same(c, p->expected, p->out));
  CHECK(same_gaps(c, p->expected, p->out));
  CHECK(memcmp(p->in, p->in_before, bytes) == 0);
  memset(p->in, 0xee, bytes);
  memset(p->out, 0xee, bytes);
  free(p->in);
  free(p->in_before);
  free(p->out);
  free(p->expected);
  if (c->sent_type != type_of(c)) MPI_Type_free(&c->sent_type);
}

static void end_message(const struct pending* p) {
  const struct call* c = &p->call;
  const int left = (c->rank + c->size - 1) % c->size, n = c->count < message ? c->count : message;
  int right = 1;
  for (int i = 0; i < n; ++i) right &= p->received[i] == p->k * 1000 + left + i;
  CHECK(right);
}

static void end_between(const struct pending* p) {
  int size, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < size; ++r)
    if ((r < size / 2) != (check_rank < size / 2)) sum += r + p->k;
  CHECK(p->received[0] == sum);
}

static MPI_Request chosen[most_requests];
static struct pending* chosen_owners[most_requests];

static void completed(int index, const MPI_Status* status) {
  (void)status;
  struct pending* p = chosen_owners[index];
  if (--p->requests_left > 0) return;
  say_which(p);
  if (p->what == a_start) end_collective(p);
  if (p->what == a_message) end_message(p);
  if (p->what == an_intercommunicator) end_between(p);
}

static void swap_requests(int i, int j) {
  const MPI_Request request = requests[i];
  struct pending* owner = owners[i];
  requests[i] = requests[j], owners[i] = owners[j];
  requests[j] = request, owners[j] = owner;
}

// Some of those under way on this rank, in any order, with null requests between them, by one form.
static void complete_random(int n) {
  int places = 0;
  for (int i = 0; i < n; ++i, --under_way) {
    swap_requests((int)own_draw((unsigned)under_way), under_way - 1);
    if (own_draw(4) == 0) chosen[places++] = MPI_REQUEST_NULL;
    chosen[places] = requests[under_way - 1];
    chosen_owners[places++] = owners[under_way - 1];
  }
  complete(places, chosen, (enum completion)own_draw(completion_forms), completed);
}

static void nap(void) {
  const struct timespec time = {0, (long)own_draw(300) * 1000};
  if (own_draw(4) == 0) nanosleep(&time, NULL);
}

// Each rank waits for what it has started whenever it likes.
static void do_round(int round) {
  size_classes = round % 4 == 3 ? 9 : 7;
  const int n = 1 + (int)draw(round % 4 == 3 ? few : most_outstanding);
  for (int i = 0; i < n; ++i) {
    draw_pending(&pendings[i], round * most_outstanding + i);
    if (pendings[i].what <= a_blocking_call)
      pendings[i].expected = reference(&pendings[i].call, pendings[i].k);
  }
  control("on");
  for (int i = 0; i < n; ++i) {
    nap();
    start(&pendings[i]);
    if (under_way > 0 && own_draw(6) == 0) complete_random(1 + (int)own_draw((unsigned)under_way));
  }
  while (under_way > 0) complete_random(1 + (int)own_draw((unsigned)under_way));
  control("off");
}

int main(int argc, char** argv) {
  int size = 0;
  if (!start_beside_hocket(&argc, &argv, &size)) return 77;
  const int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 60;
  state = check_seed(argc, argv);
  own_state = state + (unsigned long long)check_rank * 7919;
  make_elements();
  make_operations();
  make_comms(size);
  make_inter(size);
  for (int round = 0; control && round < rounds; ++round) do_round(round);
  free_comms();
  if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
  free_elements_and_operations();
  return check_finish("nonblocking_random");
}
