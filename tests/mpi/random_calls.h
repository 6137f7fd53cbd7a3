// Random calls of all collectives, in their blocking, non-blocking and persistent form: what differential.c,
// nonblocking_random.c and persistent_random.c compare. All ranks draw the same ones, also the members of
// different communicators. Data are small integers, so that results are exact in every type (elements.h).
#pragma once

#include "check.h"
#include "elements.h"
#include "persistent_names.h"

static hocket_control_function control;
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

// What each rank draws for itself.
static unsigned long long own_state;
static inline unsigned own_draw(unsigned below) {
  own_state = own_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(own_state >> 33) % below;
}

// MPI and the control of Hocket. 0: Hocket is not there, so that there is nothing to compare, and MPI has
// ended.
static inline int start_beside_hocket(int* argc, char*** argv, int* size) {
  check_start(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  find_in_hocket("hocket_control", &control);
  if (hocket_is_required() || (control && control("off") >= 0)) return 1;
  if (check_rank == 0) printf("SKIPPED: Hocket is not attached: nothing to compare\n");
  MPI_Finalize();
  return 0;
}

// Of counts and places, in programs that define LARGE_COUNTS before they include this: MPI 4's large ones.
#ifdef LARGE_COUNTS
typedef MPI_Count counted;
typedef MPI_Aint placed;
#define COUNTED(name) name##_c
#else
typedef int counted;
typedef int placed;
#define COUNTED(name) name
#endif

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

static void free_comms(void) {
  for (int i = 1; i < comm_count; ++i) MPI_Comm_free(&comms[i]);
}

struct collective;
struct call {
  const struct collective* collective;
  const struct element* element;
  const struct operation* operation;
  const char* comm_name;
  MPI_Comm comm;
  int rank, size, root, in_place, count;
  counted sizes[most_ranks], pair_sizes[most_ranks];   // blocks of the forms with unequal ones
  placed places[most_ranks], pair_places[most_ranks];  // alltoallv: those with each rank
  size_t room;                                         // elements of each buffer
  int sent;  // of these types is an equal block as senders say it; receivers may name the same data otherwise
  MPI_Datatype sent_type;
};

// ---- the collectives
#define ARGUMENTS const struct call *c, const void *in, void *out
static MPI_Datatype type_of(const struct call* c) {
  return c->element->type;
}
static MPI_Op op_of(const struct call* c) {
  return c->operation->op;
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

// The forms of a collective, from the arguments that they have in common.
#define FORMS(name, Blocking, Nonblocking, ...)                          \
  static void name(ARGUMENTS) {                                          \
    (void)in, (void)out;                                                 \
    COUNTED(Blocking)(__VA_ARGS__, c->comm);                             \
  }                                                                      \
  static inline void i##name(ARGUMENTS, MPI_Request* later) {            \
    (void)in, (void)out;                                                 \
    COUNTED(Nonblocking)(__VA_ARGS__, c->comm, later);                   \
  }                                                                      \
  static inline void keep_##name(ARGUMENTS, MPI_Request* kept) {         \
    (void)in, (void)out;                                                 \
    COUNTED(Blocking##_init)(__VA_ARGS__, c->comm, MPI_INFO_NULL, kept); \
  }
#define HERE source(c, in, out)
#define AT_ROOT source_at_root(c, in, out)
#define TO_ROOT target_at_root(c, in, out)
#define EQUAL c->count, type_of(c)
#define SENT c->sent, c->sent_type
#define OWN c->sizes[c->rank], type_of(c)
#define UNEQUAL c->sizes, c->places, type_of(c)
#define PAIRS c->pair_sizes, c->pair_places, type_of(c)

static void barrier(ARGUMENTS) {
  (void)in, (void)out;
  MPI_Barrier(c->comm);
}
static inline void ibarrier(ARGUMENTS, MPI_Request* later) {
  (void)in, (void)out;
  MPI_Ibarrier(c->comm, later);
}
static inline void keep_barrier(ARGUMENTS, MPI_Request* kept) {
  (void)in, (void)out;
  MPI_Barrier_init(c->comm, MPI_INFO_NULL, kept);
}
FORMS(bcast, MPI_Bcast, MPI_Ibcast, out, SENT, c->root)
FORMS(gather, MPI_Gather, MPI_Igather, AT_ROOT, SENT, out, EQUAL, c->root)
FORMS(gatherv, MPI_Gatherv, MPI_Igatherv, AT_ROOT, OWN, out, UNEQUAL, c->root)
FORMS(scatter, MPI_Scatter, MPI_Iscatter, in, SENT, TO_ROOT, EQUAL, c->root)
FORMS(scatterv, MPI_Scatterv, MPI_Iscatterv, in, UNEQUAL, TO_ROOT, OWN, c->root)
FORMS(allgather, MPI_Allgather, MPI_Iallgather, HERE, SENT, out, EQUAL)
FORMS(allgatherv, MPI_Allgatherv, MPI_Iallgatherv, HERE, OWN, out, UNEQUAL)
FORMS(alltoall, MPI_Alltoall, MPI_Ialltoall, HERE, SENT, out, EQUAL)
FORMS(alltoallv, MPI_Alltoallv, MPI_Ialltoallv, HERE, PAIRS, out, PAIRS)
FORMS(reduce, MPI_Reduce, MPI_Ireduce, AT_ROOT, out, EQUAL, op_of(c), c->root)
FORMS(allreduce, MPI_Allreduce, MPI_Iallreduce, HERE, out, EQUAL, op_of(c))
FORMS(scan, MPI_Scan, MPI_Iscan, HERE, out, EQUAL, op_of(c))
FORMS(exscan, MPI_Exscan, MPI_Iexscan, HERE, out, EQUAL, op_of(c))
FORMS(reduce_scatter_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, HERE, out, EQUAL, op_of(c))
FORMS(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter, HERE, out, c->sizes, type_of(c), op_of(c))

static const struct collective {
  const char* name;
  void (*run)(ARGUMENTS);
  void (*start)(ARGUMENTS, MPI_Request* later);
  void (*keep)(ARGUMENTS, MPI_Request* kept);
  int reduces;
} collectives[] = {
#define ROW(name, reduces) {#name, name, i##name, keep_##name, reduces}
    ROW(barrier, 0),  ROW(bcast, 0),     ROW(gather, 0),         ROW(gatherv, 0),
    ROW(scatter, 0),  ROW(scatterv, 0),  ROW(allgather, 0),      ROW(allgatherv, 0),
    ROW(alltoall, 0), ROW(alltoallv, 0), ROW(reduce, 1),         ROW(allreduce, 1),
    ROW(scan, 1),     ROW(exscan, 1),    ROW(reduce_scatter, 1), ROW(reduce_scatter_block, 1),
#undef ROW
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

// MPICH 4 and 5 copy a rank's block over itself in reduce_scatter in-place, blocking or not, and abort on the
// overlap when the block is longer than what lies before it: there blocks shrink from rank to rank.
static int unequal_size(const struct call* c, int r) {
#ifdef OF_MPICH_KIND
  const int more = c->size - r;
#else
  const int more = r;
#endif
  return r % 3 == 1 ? 0 : c->count + more;
}

static inline int are_pairs_with_a_gap(const struct element* e) {
  return e->takes == location && e->parts[0].bytes + e->parts[1].bytes < e->extent;
}

// MPICH 4 and 5 refuse pairs with a gap in many collectives that move data: the types do not match, or the
// message is truncated.
static int refuses_to_move(const struct call* c) {
#ifdef OF_MPICH_KIND
  return !c->collective->reduces && are_pairs_with_a_gap(c->element);
#else
  (void)c;
  return 0;
#endif
}

static int is_intel_mpi(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return strstr(version, "Intel") != NULL;
}

// Intel MPI's MPI_Reduce of some 20 KiB of pairs with a gap is wrong on three ranks and more.
static int reduces_wrongly(const struct call* c) {
  return is(c, reduce) && are_pairs_with_a_gap(c->element) && c->size > 2 && is_intel_mpi();
}

// ---- drawing a call: the members of a split communicator, of different sizes, must draw alike
static unsigned size_classes = 8;  // of draw_count(): at most 9
static int draw_count(void) {
  static const int sizes[] = {0, 1, 2, 5, 30, 200, 1500, 9000, 40000};
  const int base = sizes[draw(size_classes)];
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
    c->sizes[r] = unequal_size(c, r);
    c->places[r] = end;
    end += (int)c->sizes[r] + r % 2;
    c->pair_sizes[r] = (c->rank + r) % 3 * c->count / 2;  // the same both ways, as in-place has it
    c->pair_places[r] = pair_end;
    pair_end += (int)c->pair_sizes[r] + r % 2;
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
  while (refuses_to_move(&c) || reduces_wrongly(&c));
  c.operation = collective->reduces ? draw_operation(c.element) : &operations[0];
  c.sent = c.count;
  c.sent_type = type_of(&c);
  lay_out(&c);
  return c;
}

// ---- their data
typedef double value_function(const struct call* c, size_t i, int salt);

// Products of eight ranks stay exact in a float.
static double small(const struct call* c, size_t i, int salt) {
  const int most = c->operation->op == MPI_PROD ? 2 : 15;
  return (double)((i * 7 + (size_t)c->rank * 13 + (size_t)salt) % (size_t)most + 1);
}

// From 1 to 2, with all digits of a double.
static inline double rounding(const struct call* c, size_t i, int salt) {
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ULL + (unsigned long long)(c->rank * 7919 + salt);
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
  return 1 + (double)(x >> 12) / (double)(1ULL << 52);
}

static unsigned char* filled(const struct call* c, value_function* value, int salt) {
  unsigned char* data = calloc(c->room, c->element->extent);
  for (size_t i = 0; i < c->room; ++i) c->element->fill(data + i * c->element->extent, value(c, i, salt));
  return data;
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
static inline int same_gaps(const struct call* c, const unsigned char* a, const unsigned char* b) {
  const int is_derived = c->element->takes == own_map || c->element->fill == fill_every_third;
  return c->collective->reduces || !is_derived || memcmp(a, b, c->room * c->element->extent) == 0;
}

// ---- running it
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

// What the MPI makes of the call.
static inline unsigned char* reference(const struct call* c, int salt) {
  return result(c, small, salt, "off");
}
