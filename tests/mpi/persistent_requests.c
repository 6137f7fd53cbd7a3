// The life of persistent collective requests: completed by every wait and test of MPI, alone and in arrays
// beside persistent point-to-point, non-blocking collectives and inactive requests; started together, again
// and again; freed while inactive and while active, and after their communicator.
#include "check.h"
#include "persistent_names.h"

static int size, next, previous;

enum { kinds = 4, length = 300, rounds = 20 };
enum kind { short_sum, long_gather, ring_send, ring_receive };

struct set {
  MPI_Request requests[kinds + 2];  // and a null one, and a persistent one that is never started
  int one, sum, block[length], *all, sent, received, idle;
};

static void make_set(struct set* s) {
  s->all = calloc((size_t)size * length, sizeof(int));
  MPI_Allreduce_init(&s->one, &s->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &s->requests[short_sum]);
  MPI_Allgather_init(s->block, length, MPI_INT, s->all, length, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &s->requests[long_gather]);
  MPI_Send_init(&s->sent, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &s->requests[ring_send]);
  MPI_Recv_init(&s->received, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &s->requests[ring_receive]);
  s->requests[kinds] = MPI_REQUEST_NULL;
  MPI_Bcast_init(&s->idle, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s->requests[kinds + 1]);
}

static void free_set(struct set* s) {
  for (int i = 0; i < kinds + 2; ++i)
    if (s->requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&s->requests[i]);
  for (int i = 0; i < kinds + 2; ++i) CHECK(s->requests[i] == MPI_REQUEST_NULL);
  free(s->all);
}

static void fill(struct set* s, int round) {
  s->one = check_rank + round;
  s->sum = s->received = -1;
  s->sent = check_rank * 1000 + round;
  for (int i = 0; i < length; ++i) s->block[i] = check_rank * length + i + round;
  for (int i = 0; i < size * length; ++i) s->all[i] = -1;
}

static void is_empty(const MPI_Status* status) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(count == 0 && !cancelled);
}

static void look_at(const struct set* s, int kind, int round, const MPI_Status* status) {
  int right = 1;
  switch (kind) {
    case short_sum:
      is_empty(status);
      CHECK(s->sum == size * (size - 1) / 2 + size * round);
      break;
    case long_gather:
      is_empty(status);
      for (int i = 0; i < size * length; ++i) right &= s->all[i] == i + round;
      CHECK(right);
      break;
    case ring_receive:
      CHECK(status->MPI_SOURCE == previous && status->MPI_TAG == 7);
      CHECK(s->received == previous * 1000 + round);
      break;
    default:
      CHECK(kind == ring_send);
  }
}

// One function per form; each leaves all requests inactive, and looks at each once.
static void by_wait(struct set* s, int round) {
  for (int k = kinds - 1; k >= 0; --k) {
    MPI_Status status;
    MPI_Wait(&s->requests[k], &status);
    look_at(s, k, round, &status);
  }
}
static void by_test(struct set* s, int round) {
  for (int k = 0; k < kinds; ++k) {
    MPI_Status status;
    for (int done = 0; !done;) MPI_Test(&s->requests[k], &done, &status);
    look_at(s, k, round, &status);
  }
}
static void by_get_status(struct set* s, int round) {
  for (int k = 0; k < kinds; ++k) {
    MPI_Status status;
    for (int done = 0; !done;) MPI_Request_get_status(s->requests[k], &done, &status);
    look_at(s, k, round, &status);
    MPI_Wait(&s->requests[k], MPI_STATUS_IGNORE);
  }
}
static void by_waitall(struct set* s, int round) {
  MPI_Status statuses[kinds + 2];
  MPI_Waitall(kinds + 2, s->requests, statuses);
  for (int k = 0; k < kinds; ++k) look_at(s, k, round, &statuses[k]);
  is_empty(&statuses[kinds]);
  is_empty(&statuses[kinds + 1]);
}
static void by_testall(struct set* s, int round) {
  MPI_Status statuses[kinds + 2];
  for (int done = 0; !done;) MPI_Testall(kinds + 2, s->requests, &done, statuses);
  for (int k = 0; k < kinds; ++k) look_at(s, k, round, &statuses[k]);
}
static void by_waitany(struct set* s, int round) {
  int seen[kinds + 2] = {0};
  for (int n = 0; n < kinds; ++n) {
    int index;
    MPI_Status status;
    MPI_Waitany(kinds + 2, s->requests, &index, &status);
    CHECK(index >= 0 && index < kinds && !seen[index]++);
    if (index >= 0) look_at(s, index, round, &status);
  }
}
static void by_testany(struct set* s, int round) {
  int seen[kinds + 2] = {0};
  for (int n = 0; n < kinds;) {
    int index, done;
    MPI_Status status;
    MPI_Testany(kinds + 2, s->requests, &index, &done, &status);
    if (!done) continue;
    ++n;
    CHECK(index >= 0 && index < kinds && !seen[index]++);
    if (index >= 0) look_at(s, index, round, &status);
  }
}
static void by_waitsome(struct set* s, int round) {
  int seen[kinds + 2] = {0};
  for (int n = 0; n < kinds;) {
    int indices[kinds + 2], count;
    MPI_Status statuses[kinds + 2];
    MPI_Waitsome(kinds + 2, s->requests, &count, indices, statuses);
    CHECK(count > 0 && count <= kinds - n);
    if (count <= 0) return;
    n += count;
    for (int i = 0; i < count; ++i) {
      CHECK(!seen[indices[i]]++);
      look_at(s, indices[i], round, &statuses[i]);
    }
  }
}
static void by_testsome(struct set* s, int round) {
  int seen[kinds + 2] = {0};
  for (int n = 0; n < kinds;) {
    int indices[kinds + 2], count;
    MPI_Status statuses[kinds + 2];
    MPI_Testsome(kinds + 2, s->requests, &count, indices, statuses);
    CHECK(count >= 0 && count <= kinds - n);
    if (count < 0) return;
    n += count;
    for (int i = 0; i < count; ++i) {
      CHECK(!seen[indices[i]]++);
      look_at(s, indices[i], round, &statuses[i]);
    }
  }
}
static void ignoring_statuses(struct set* s, int round) {
  MPI_Waitall(kinds + 2, s->requests, MPI_STATUSES_IGNORE);
  CHECK(s->received == previous * 1000 + round);
}

static void start_together(struct set* s) {
  MPI_Startall(kinds, s->requests);
}
static void start_one_by_one(struct set* s) {
  for (int k = 0; k < kinds; ++k) MPI_Start(&s->requests[k]);
}

// Nothing is active: waits return at once.
static void nothing_is_active(struct set* s) {
  int index = 0, count = 0, done = 0;
  MPI_Status statuses[kinds + 2];
  MPI_Waitany(kinds + 2, s->requests, &index, statuses);
  CHECK(index == MPI_UNDEFINED);
  MPI_Waitsome(kinds + 2, s->requests, &count, (int[kinds + 2]){0}, statuses);
  CHECK(count == MPI_UNDEFINED);
  MPI_Testany(kinds + 2, s->requests, &index, &done, statuses);
  CHECK(done && index == MPI_UNDEFINED);
  MPI_Waitall(kinds + 2, s->requests, statuses);
  MPI_Wait(&s->requests[short_sum], statuses);
  is_empty(statuses);
  CHECK(s->requests[short_sum] != MPI_REQUEST_NULL);
}

static void every_form(void) {
  static void (*const forms[])(struct set*, int) = {by_wait,     by_test,          by_get_status, by_waitall,
                                                    by_testall,  by_waitany,       by_testany,    by_waitsome,
                                                    by_testsome, ignoring_statuses};
  struct set s;
  make_set(&s);
  nothing_is_active(&s);
  for (int round = 0; round < rounds; ++round)
    for (size_t form = 0; form < sizeof forms / sizeof *forms; ++form) {
      context("form %zu, round %d", form, round);
      fill(&s, round);
      (round % 2 ? start_together : start_one_by_one)(&s);
      forms[form](&s, round);
      nothing_is_active(&s);
    }
  free_set(&s);
}

// Persistent ones, non-blocking ones and blocking calls of one communicator under way at the same time.
static void beside_others(void) {
  enum { n = 12 };
  MPI_Request requests[2 * n];
  int in[n], out[n], once[n], all[n];
  context("beside others");
  for (int i = 0; i < n; ++i)
    MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) {
      in[i] = round + i;
      MPI_Start(&requests[i]);
      MPI_Iallreduce(&in[i], &once[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[n + i]);
      MPI_Allreduce(&in[i], &all[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) {
      CHECK(out[i] == size * in[i] && once[i] == in[i] && all[i] == out[i]);
      CHECK(requests[n + i] == MPI_REQUEST_NULL);
    }
  }
  for (int i = 0; i < n; ++i) MPI_Request_free(&requests[i]);
}

// Many starts of one while another one stays active: memory that operations take turns in is used again.
static void many_starts_beside_an_active_one(void) {
  MPI_Request quick, slow;
  int one = 1, sum = 0, slow_sum = 0;
  context("many starts");
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &quick);
  MPI_Allreduce_init(&one, &slow_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &slow);
  MPI_Start(&slow);
  for (int i = 0; i < 1000; ++i) {
    sum = 0;
    MPI_Start(&quick);
    MPI_Wait(&quick, MPI_STATUS_IGNORE);
    CHECK(sum == size);
  }
  MPI_Wait(&slow, MPI_STATUS_IGNORE);
  CHECK(slow_sum == size);
  MPI_Request_free(&slow);
  MPI_Request_free(&quick);
}

// ---- Only the inits come in the same order on all ranks: each starts in another one, also with regard to
// the non-blocking ones between them.
enum { mixed = 24, long_count = 30000, generations = 3 };
struct vector {
  int *in, *out, *counts, *places;
};

static int first_of(int which, int round) {
  return 100 * which + round;
}

static void make_one(struct vector* v, int which, MPI_Request* request) {
  const int count = which % 4 == 1 ? long_count : size;
  v->in = calloc((size_t)count, sizeof(int));
  v->out = calloc((size_t)count, sizeof(int));
  v->counts = calloc((size_t)size, sizeof(int));
  v->places = calloc((size_t)size, sizeof(int));
  for (int r = 0; r < size; ++r) v->counts[r] = 1, v->places[r] = r;
  if (which % 4 < 2)
    MPI_Allreduce_init(v->in, v->out, which % 4 ? count : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       request);
  else if (which % 4 == 2)
    MPI_Bcast_init(v->out, 1, MPI_INT, which % size, MPI_COMM_WORLD, MPI_INFO_NULL, request);
  else
    MPI_Alltoallv_init(v->in, v->counts, v->places, MPI_INT, v->out, v->counts, v->places, MPI_INT,
                       MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static void free_one(struct vector* v, MPI_Request* request) {
  MPI_Request_free(request);
  free(v->in), free(v->out), free(v->counts), free(v->places);
}

static void fill_one(struct vector* v, int which, int round) {
  const int count = which % 4 == 1 ? long_count : size;
  for (int i = 0; i < count; ++i) v->in[i] = check_rank + first_of(which, round), v->out[i] = -1;
  if (which % 4 == 2 && check_rank == which % size) v->out[0] = first_of(which, round);
}

static void look_at_one(const struct vector* v, int which, int round) {
  const int first = first_of(which, round), sum = size * (size - 1) / 2 + size * first;
  int right = 1;
  context("another order: %d, round %d", which, round);
  if (which % 4 == 0) CHECK(v->out[0] == sum);
  for (int i = 0; which % 4 == 1 && i < long_count; ++i) right &= v->out[i] == sum;
  if (which % 4 == 2) CHECK(v->out[0] == first);
  for (int r = 0; which % 4 == 3 && r < size; ++r) right &= v->out[r] == first + r;
  CHECK(right);
}

static void start_in_own_order(struct vector* vectors, MPI_Request* requests, int round) {
  enum { between = 3 };
  static const int steps[] = {1, 5, 7, 11, 13, 17, 19, 23};  // through all of them, as mixed is 24
  MPI_Request others[between];
  int one = 1, sums[between] = {0}, begun = 0;
  for (int i = 0; i < mixed; ++i) fill_one(&vectors[i], i, round);
  for (int k = 0; k < mixed; ++k) {
    MPI_Start(&requests[(k * steps[(check_rank + round) % 8] + 5 * check_rank) % mixed]);
    for (; begun < between && k >= (begun + 1) * (check_rank % 7 + 1); ++begun)
      MPI_Iallreduce(&one, &sums[begun], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &others[begun]);
  }
  for (; begun < between; ++begun)
    MPI_Iallreduce(&one, &sums[begun], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &others[begun]);
  MPI_Waitall(mixed, requests, MPI_STATUSES_IGNORE);
  MPI_Waitall(between, others, MPI_STATUSES_IGNORE);
  for (int i = 0; i < mixed; ++i) look_at_one(&vectors[i], i, round);
  for (int i = 0; i < between; ++i) CHECK(sums[i] == size);
}

static void in_another_order_on_each_rank(void) {
  struct vector vectors[mixed];
  MPI_Request requests[mixed];
  for (int generation = 0; generation < generations; ++generation) {
    for (int i = 0; i < mixed; ++i) make_one(&vectors[i], i, &requests[i]);
    for (int round = 0; round < rounds; ++round) start_in_own_order(vectors, requests, round);
    for (int i = 0; i < mixed; ++i) {
      const int which = (5 * i + check_rank) % mixed;
      free_one(&vectors[which], &requests[which]);
    }
  }
}

// More than an arena has room for: the ranks agree about which ones are left to the MPI, and start them
// alike.
static void very_many(void) {
  enum { n = 600 };
  static MPI_Request requests[n];
  static int in[n], out[n];
  context("very many");
  for (int i = 0; i < n; ++i)
    MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n; ++i) in[i] = i + round;
    MPI_Startall(n, requests);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) CHECK(out[i] == size * (i + round));
  }
  for (int i = 0; i < n; ++i) MPI_Request_free(&requests[i]);
}

static void made_and_freed_again_and_again(void) {
  context("made and freed");
  for (int i = 0; i < 300; ++i) {
    MPI_Request request;
    int value = check_rank == i % size ? i : -1;
    MPI_Bcast_init(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int again = 0; again < i % 3; ++again) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(value == i);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
}

// Its data arrive all the same; a barrier of the same communicator says when.
static void freed_while_active(void) {
  MPI_Request request;
  static int value;
  context("freed while active");
  value = check_rank == 0 ? 4711 : 0;
  MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  for (int i = 0; i < 3; ++i) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// The request keeps what it needs of a communicator that the program has freed.
static void after_its_communicator(void) {
  MPI_Comm comm;
  MPI_Request request;
  int one = 1, sum = 0;
  context("after its communicator");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 3; ++i) {
    sum = 0;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size);
  }
  MPI_Request_free(&request);
}

// An inactive one that the program leaves behind: its handle is not taken for that of a later request.
static void left_behind_by_a_disconnect(void) {
  MPI_Comm comm;
  MPI_Request left[3], later[2];
  int one = 1, sums[3] = {0}, sent = check_rank, received = -1;
  context("left behind by a disconnect");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  for (int i = 0; i < 3; ++i)
    MPI_Allreduce_init(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &left[i]);
  MPI_Startall(3, left);
  MPI_Waitall(3, left, MPI_STATUSES_IGNORE);
  CHECK(sums[0] == size && sums[1] == size && sums[2] == size);
  MPI_Comm_disconnect(&comm);
  MPI_Recv_init(&received, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &later[0]);
  MPI_Send_init(&sent, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &later[1]);
  MPI_Startall(2, later);
  MPI_Waitall(2, later, MPI_STATUSES_IGNORE);
  CHECK(received == previous);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&later[i]);
  CHECK(later[0] == MPI_REQUEST_NULL && later[1] == MPI_REQUEST_NULL);
}

// It keeps the type and the operation that it was made with, too.
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[2 * i] += ((const int*)in)[2 * i];
}
static void after_its_type_and_operation(void) {
  MPI_Datatype pair, spread;
  MPI_Op op;
  MPI_Request sum, gathered;
  int in[6] = {1, 0, 1, 0, 1, 0}, out[6] = {0}, *all = calloc((size_t)size * 6, sizeof(int));
  context("after its type and its operation");
  MPI_Type_vector(1, 1, 1, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 2 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce_init(in, out, 3, spread, op, MPI_COMM_WORLD, MPI_INFO_NULL, &sum);
  MPI_Allgather_init(in, 3, spread, all, 3, spread, MPI_COMM_WORLD, MPI_INFO_NULL, &gathered);
  MPI_Type_free(&pair);
  MPI_Type_free(&spread);
  MPI_Op_free(&op);
  CHECK(spread == MPI_DATATYPE_NULL && op == MPI_OP_NULL);
  for (int i = 1; i < 4; ++i) {
    in[0] = in[2] = in[4] = i;
    MPI_Start(&sum);
    MPI_Start(&gathered);
    MPI_Wait(&gathered, MPI_STATUS_IGNORE);
    MPI_Wait(&sum, MPI_STATUS_IGNORE);
    CHECK(out[0] == size * i && out[2] == size * i && out[4] == size * i && out[1] == 0);
    for (int k = 0; k < 3 * size; ++k) CHECK(all[2 * k] == i && all[2 * k + 1] == 0);
  }
  MPI_Request_free(&sum);
  MPI_Request_free(&gathered);
  free(all);
}

// The first collective of a communicator makes a persistent one.
static void first_of_a_communicator(void) {
  MPI_Comm comm;
  MPI_Request request;
  int one = 1, sum = 0;
  context("first of a communicator");
  MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size);
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (check_rank + 1) % size;
  previous = (check_rank + size - 1) % size;
  every_form();
  beside_others();
  many_starts_beside_an_active_one();
  if (hocket_is_required() && size > 1) in_another_order_on_each_rank();
  very_many();
  made_and_freed_again_and_again();
  if (hocket_is_required() && size > 1) freed_while_active();  // Open MPI's own cannot
  first_of_a_communicator();
  after_its_communicator();
  left_behind_by_a_disconnect();
  after_its_type_and_operation();
  return check_finish("persistent_requests");
}
