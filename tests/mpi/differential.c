// The same random calls by the MPI and by Hocket (hocket_control), in one process: the same bytes afterwards.
// Data are small integers, so that results are exact in every type (elements.h). Then calls on data that
// round, by Hocket alone: the same bits every time, and on all ranks that get the same result. Argument 1
// repeats a printed seed, argument 2 sets the number of calls.
#include "check.h"
#include "elements.h"

static hocket_control_function control;
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

enum { most_ranks = 64, comm_count = 5 };
static const char* const comm_names[comm_count] = {"world", "dup", "reversed", "odd-even",
                                                   "half of reversed"};
static MPI_Comm comms[comm_count];

static void make_comms(int size) {
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - check_rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comms[3]);
  MPI_Comm_split(comms[2], check_rank < size / 2, 0, &comms[4]);
}

struct collective;
struct call {
  const struct collective* collective;
  const struct element* element;
  const struct operation* operation;
  const char* comm_name;
  MPI_Comm comm;
  int rank, size, root, in_place, count;
  int sizes[most_ranks], places[most_ranks];            // blocks of the forms with unequal ones
  int pair_sizes[most_ranks], pair_places[most_ranks];  // alltoallv: with each rank
  size_t room;                                          // elements of each buffer
};

// ---- the collectives
#define ARGUMENTS const struct call *c, const void *in, void *out
static MPI_Datatype type_of(const struct call* c) {
  return c->element->type;
}
static const void* source(ARGUMENTS) {
  (void)out;
  return c->in_place ? MPI_IN_PLACE : in;
}
static const void* source_at_root(ARGUMENTS) {
  return c->rank == c->root ? source(c, in, out) : in;
}
static void* target_at_root(ARGUMENTS) {
  (void)in;
  return c->rank == c->root && c->in_place ? MPI_IN_PLACE : out;
}

static void barrier(ARGUMENTS) {
  (void)in, (void)out;
  MPI_Barrier(c->comm);
}
static void bcast(ARGUMENTS) {
  (void)in;
  MPI_Bcast(out, c->count, type_of(c), c->root, c->comm);
}
static void gather(ARGUMENTS) {
  MPI_Gather(source_at_root(c, in, out), c->count, type_of(c), out, c->count, type_of(c), c->root, c->comm);
}
static void gatherv(ARGUMENTS) {
  MPI_Gatherv(source_at_root(c, in, out), c->sizes[c->rank], type_of(c), out, c->sizes, c->places, type_of(c),
              c->root, c->comm);
}
static void scatter(ARGUMENTS) {
  MPI_Scatter(in, c->count, type_of(c), target_at_root(c, in, out), c->count, type_of(c), c->root, c->comm);
}
static void scatterv(ARGUMENTS) {
  MPI_Scatterv(in, c->sizes, c->places, type_of(c), target_at_root(c, in, out), c->sizes[c->rank], type_of(c),
               c->root, c->comm);
}
static void allgather(ARGUMENTS) {
  MPI_Allgather(source(c, in, out), c->count, type_of(c), out, c->count, type_of(c), c->comm);
}
static void allgatherv(ARGUMENTS) {
  MPI_Allgatherv(source(c, in, out), c->sizes[c->rank], type_of(c), out, c->sizes, c->places, type_of(c),
                 c->comm);
}
static void alltoall(ARGUMENTS) {
  MPI_Alltoall(source(c, in, out), c->count, type_of(c), out, c->count, type_of(c), c->comm);
}
static void alltoallv(ARGUMENTS) {
  MPI_Alltoallv(source(c, in, out), c->pair_sizes, c->pair_places, type_of(c), out, c->pair_sizes,
                c->pair_places, type_of(c), c->comm);
}
static void reduce(ARGUMENTS) {
  MPI_Reduce(source_at_root(c, in, out), out, c->count, type_of(c), c->operation->op, c->root, c->comm);
}
static void allreduce(ARGUMENTS) {
  MPI_Allreduce(source(c, in, out), out, c->count, type_of(c), c->operation->op, c->comm);
}
static void scan(ARGUMENTS) {
  MPI_Scan(source(c, in, out), out, c->count, type_of(c), c->operation->op, c->comm);
}
static void exscan(ARGUMENTS) {
  MPI_Exscan(source(c, in, out), out, c->count, type_of(c), c->operation->op, c->comm);
}
static void reduce_scatter_block(ARGUMENTS) {
  MPI_Reduce_scatter_block(source(c, in, out), out, c->count, type_of(c), c->operation->op, c->comm);
}
static void reduce_scatter(ARGUMENTS) {
  MPI_Reduce_scatter(source(c, in, out), out, c->sizes, type_of(c), c->operation->op, c->comm);
}

static const struct collective {
  const char* name;
  void (*run)(ARGUMENTS);
  int reduces;
} collectives[] = {
    {"barrier", barrier, 0},
    {"bcast", bcast, 0},
    {"gather", gather, 0},
    {"gatherv", gatherv, 0},
    {"scatter", scatter, 0},
    {"scatterv", scatterv, 0},
    {"allgather", allgather, 0},
    {"allgatherv", allgatherv, 0},
    {"alltoall", alltoall, 0},
    {"alltoallv", alltoallv, 0},
    {"reduce", reduce, 1},
    {"allreduce", allreduce, 1},
    {"scan", scan, 1},
    {"exscan", exscan, 1},
    {"reduce_scatter", reduce_scatter, 1},
    {"reduce_scatter_block", reduce_scatter_block, 1},
};
enum { collective_count = sizeof collectives / sizeof *collectives };

static int is(const struct call* c, void (*run)(ARGUMENTS)) {
  return c->collective->run == run;
}

// ---- what the MPI itself cannot do
// MPICH 4.0.2 crashes in MPI_Reduce in-place.
static int crashes_in_place(const struct call* c) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  return is(c, reduce);
#else
  (void)c;
  return 0;
#endif
}

// MPICH 4 and 5 copy a rank's block over itself in MPI_Reduce_scatter in-place and abort on the overlap when
// the block is longer than what lies before it.
static int aborts_in_place(const struct call* c) {
#ifdef OF_MPICH_KIND
  return is(c, reduce_scatter) && c->in_place;
#else
  (void)c;
  return 0;
#endif
}

// MPICH 4 and 5 refuse pairs with a gap in many collectives that move data: the types do not match, or the
// message is truncated.
static int refuses_to_move(const struct call* c) {
#ifdef OF_MPICH_KIND
  const struct element* e = c->element;
  return !c->collective->reduces && e->takes == location && e->parts[0].bytes + e->parts[1].bytes < e->extent;
#else
  (void)c;
  return 0;
#endif
}

// ---- drawing a call: the members of a split communicator, of different sizes, must draw alike
static int draw_count(void) {
  static const int sizes[] = {0, 1, 2, 5, 30, 200, 1500, 9000};
  const int base = sizes[draw(sizeof sizes / sizeof *sizes)];
  return base ? base + (int)draw((unsigned)base) : 0;
}

static const struct element* draw_element(unsigned taking) {
  const struct element* e;
  do e = &elements[draw(element_count)];
  while (taking && !(e->takes & taking));
  return e;
}

static const struct operation* draw_operation(const struct element* e) {
  const struct operation* o;
  do o = &operations[draw(operation_count)];
  while (!(o->on & e->takes));
  return o;
}

static void lay_out(struct call* c) {
  int end = 0, pair_end = 0;
  for (int r = 0; r < c->size; ++r) {
    c->sizes[r] = r % 3 == 1 ? 0 : c->count + r;
    c->places[r] = end;
    end += c->sizes[r] + r % 2;
    c->pair_sizes[r] = (c->rank + r) % 3 * c->count / 2;  // the same both ways, as in-place has it
    c->pair_places[r] = pair_end;
    pair_end += c->pair_sizes[r] + r % 2;
  }
  const int regular = c->count * c->size;
  if (pair_end > end) end = pair_end;
  c->room = (size_t)(end > regular ? end : regular) + 1;
}

static struct call draw_call(const struct collective* collective, unsigned taking) {
  struct call c = {.collective = collective};
  const unsigned comm = draw(comm_count);
  c.comm = comms[comm];
  c.comm_name = comm_names[comm];
  MPI_Comm_rank(c.comm, &c.rank);
  MPI_Comm_size(c.comm, &c.size);
  c.root = (int)draw(1000) % c.size;
  c.in_place = (int)draw(2) && !crashes_in_place(&c);
  c.count = draw_count();
  do c.element = draw_element(taking);
  while (refuses_to_move(&c));
  c.operation = collective->reduces ? draw_operation(c.element) : &operations[0];
  lay_out(&c);
  return c;
}

static void say_which(int k, const struct call* c) {
  context("call %d: %s of %d %s, %s, on %s, size=%d root=%d in_place=%d", k, c->collective->name, c->count,
          c->element->name, c->collective->reduces ? c->operation->name : "-", c->comm_name, c->size, c->root,
          c->in_place);
}

// ---- running it
typedef double value_function(const struct call* c, size_t i, int salt);

// Products of eight ranks stay exact in a float.
static double small(const struct call* c, size_t i, int salt) {
  const int most = c->operation->op == MPI_PROD ? 2 : 15;
  return (double)((i * 7 + (size_t)c->rank * 13 + (size_t)salt) % (size_t)most + 1);
}

// From 1 to 2, with all digits of a double.
static double rounding(const struct call* c, size_t i, int salt) {
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ULL + (unsigned long long)(c->rank * 7919 + salt);
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
  return 1 + (double)(x >> 12) / (double)(1ULL << 52);
}

static unsigned char* filled(const struct call* c, value_function* value, int salt) {
  unsigned char* data = calloc(c->room, c->element->extent);
  for (size_t i = 0; i < c->room; ++i) c->element->fill(data + i * c->element->extent, value(c, i, salt));
  return data;
}

// The output buffer afterwards, to be freed.
static unsigned char* result(const struct call* c, value_function* value, int salt, const char* side) {
  unsigned char *in = filled(c, value, salt), *in_before = filled(c, value, salt);
  unsigned char* out = filled(c, value, salt + 3);
  control(side);
  c->collective->run(c, in, out);
  control("off");
  CHECK(memcmp(in, in_before, c->room * c->element->extent) == 0);
  free(in);
  free(in_before);
  return out;
}

// What the MPI makes of the call; where it cannot do it in-place, of the same data from a buffer of its own.
static unsigned char* reference(const struct call* c, int salt) {
  if (!aborts_in_place(c)) return result(c, small, salt, "off");
  struct call separate = *c;
  separate.in_place = 0;
  return result(&separate, small, salt + 3, "off");
}

// In-place, what lies behind the result of a reduce_scatter is undefined; so is the first exscan.
static size_t defined_elements(const struct call* c) {
  if (is(c, reduce_scatter_block) && c->in_place) return (size_t)c->count;
  if (is(c, reduce_scatter) && c->in_place) return (size_t)c->sizes[c->rank];
  return is(c, exscan) && c->rank == 0 ? 0 : c->room;
}

static int same(const struct call* c, const unsigned char* a, const unsigned char* b) {
  const struct element* e = c->element;
  for (size_t i = 0, n = defined_elements(c); i < n; ++i, a += e->extent, b += e->extent)
    for (int k = 0; k < 2; ++k)
      if (memcmp(a + e->parts[k].offset, b + e->parts[k].offset, e->parts[k].bytes) != 0) return 0;
  return 1;
}

// Collectives that move data leave the gaps of a derived type alone.
static int same_gaps(const struct call* c, const unsigned char* a, const unsigned char* b) {
  const int is_derived = c->element->takes == own_map || c->element->fill == fill_every_third;
  return c->collective->reduces || !is_derived || memcmp(a, b, c->room * c->element->extent) == 0;
}

static void compare(int k) {
  const struct collective* collective = &collectives[draw(collective_count)];
  const struct call c = draw_call(collective, collective->reduces ? ~0U : 0);
  say_which(k, &c);
  unsigned char* expected = reference(&c, k);
  unsigned char* found = result(&c, small, k, "on");
  CHECK(same(&c, expected, found));
  CHECK(same_gaps(&c, expected, found));
  free(expected);
  free(found);
}

// ---- data that round
static const struct collective* draw_reduction(void) {
  const struct collective* collective;
  do collective = &collectives[draw(collective_count)];
  while (!collective->reduces);
  return collective;
}

// Whether the first rank has the same.
static int same_as_first(const struct call* c, const unsigned char* found) {
  const size_t bytes = (size_t)c->count * c->element->extent;
  unsigned char* first = calloc(c->room, c->element->extent);
  memcpy(first, found, c->room * c->element->extent);
  MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, c->comm);
  const int right = same(c, first, found);
  free(first);
  return right;
}

static void repeat(int k) {
  const struct call c = draw_call(draw_reduction(), floating | is_complex);
  say_which(k, &c);
  unsigned char* found = result(&c, rounding, k, "on");
  for (int again = 0; again < 2; ++again) {
    unsigned char* same_call = result(&c, rounding, k, "on");
    CHECK(same(&c, found, same_call));
    free(same_call);
  }
  if (is(&c, allreduce)) CHECK(same_as_first(&c, found));
  free(found);
}

int main(int argc, char** argv) {
  int size = 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  find_in_hocket("hocket_control", &control);
  if (!hocket_is_required() && (!control || control("off") < 0)) {
    if (check_rank == 0) printf("SKIPPED: Hocket is not attached: nothing to compare\n");
    MPI_Finalize();
    return 77;
  }
  const int calls = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 400;
  state = check_seed(argc, argv);
  make_elements();
  make_operations();
  make_comms(size);
  for (int k = 0; control && k < calls; ++k) compare(k);
  for (int k = 0; control && k < calls / 4; ++k) repeat(k);
  for (int i = 1; i < comm_count; ++i) MPI_Comm_free(&comms[i]);
  free_elements_and_operations();
  return check_finish("differential");
}
