// The same random calls twice, by the MPI and by Hocket (hocket_control), and the same bytes afterwards. The
// seed is printed; argument 1 sets it, argument 2 the number of calls. Data are small integers, so that sums
// are exact in every type.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#include "check.h"
#include "hocket/hocket.h"

static hocket_control_function control;
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

enum kind { k_int, k_long, k_double, k_float, k_strided, kinds };
struct call {
  unsigned collective;
  MPI_Comm comm;
  int rank, size, root, in_place, count;
  MPI_Datatype type;
  enum kind kind;
  MPI_Op op;
  size_t extent, room;  // bytes of an element's place, and of each buffer
  int sizes[64], places[64];
};

static MPI_Comm comms[5];
static MPI_Datatype strided;

static void fill(const struct call* c, unsigned char* data, int salt) {
  for (size_t i = 0; i < c->room / c->extent; ++i) {
    const int v = (int)((i * 7 + (size_t)c->rank * 13 + (size_t)salt) % 17) + 1;
    unsigned char* p = data + i * c->extent;
    if (c->kind == k_int) *(int*)p = v;
    if (c->kind == k_long) *(long*)p = v;
    if (c->kind == k_double) *(double*)p = v;
    if (c->kind == k_float) *(float*)p = (float)v;
    if (c->kind == k_strided)
      for (int k = 0; k < 3; ++k) ((int*)p)[k] = v + k;
  }
}

static int is_reduction(unsigned collective) {
  return collective >= 9;
}

// MPICH 4.0.2 crashes in MPI_Reduce in-place.
static int crashes_in_place(unsigned collective) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  return collective == 9;
#else
  (void)collective;
  return 0;
#endif
}

// MPICH 4 and 5 copy a rank's block over itself in MPI_Reduce_scatter in-place and abort on the overlap when
// the block is longer than what lies before it.
static int aborts_in_place(const struct call* c) {
#ifdef MPICH_NUMVERSION
  return c->collective == 14 && c->in_place;
#else
  (void)c;
  return 0;
#endif
}

static struct call draw_call(void) {
  static const int sizes[] = {0, 1, 2, 5, 30, 200, 1500, 9000};
  const MPI_Datatype types[] = {MPI_INT, MPI_LONG, MPI_DOUBLE, MPI_FLOAT, strided};
  static const size_t extents[] = {sizeof(int), sizeof(long), sizeof(double), sizeof(float), 3 * sizeof(int)};
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN};
  struct call c = {.collective = draw(15), .comm = comms[draw(5)]};
  MPI_Comm_rank(c.comm, &c.rank);
  MPI_Comm_size(c.comm, &c.size);
  // Members of a split communicator must draw alike: nothing here depends on its size except the root.
  const unsigned root = draw(1000);
  c.root = (int)root % c.size;
  c.in_place = (int)draw(2) && !crashes_in_place(c.collective);
  const int base = sizes[draw(sizeof sizes / sizeof *sizes)];
  c.count = base ? base + (int)draw((unsigned)base) : 0;
  c.kind = draw(is_reduction(c.collective) ? k_strided : kinds);
  c.type = types[c.kind];
  c.extent = extents[c.kind];
  c.op = ops[draw(3)];
  int end = 0;
  for (int r = 0; r < c.size; ++r) {
    c.sizes[r] = r % 3 == 1 ? 0 : c.count + r;
    c.places[r] = end;
    end += c.sizes[r] + r % 2;
  }
  const int regular = c.count * c.size;
  c.room = (size_t)((end > regular ? end : regular) + 1) * c.extent;
  return c;
}

static void run(const struct call* c, unsigned char* in, unsigned char* out) {
  const void* send = c->in_place ? MPI_IN_PLACE : in;
  const int here = c->rank == c->root, own = c->sizes[c->rank];
  const void* root_send = here ? send : in;
  switch (c->collective) {
    case 0:
      MPI_Barrier(c->comm);
      break;
    case 1:
      MPI_Bcast(out, c->count, c->type, c->root, c->comm);
      break;
    case 2:
      MPI_Gather(root_send, c->count, c->type, out, c->count, c->type, c->root, c->comm);
      break;
    case 3:
      MPI_Gatherv(root_send, own, c->type, out, c->sizes, c->places, c->type, c->root, c->comm);
      break;
    case 4:
      MPI_Scatter(in, c->count, c->type, here && c->in_place ? MPI_IN_PLACE : out, c->count, c->type, c->root,
                  c->comm);
      break;
    case 5:
      MPI_Scatterv(in, c->sizes, c->places, c->type, here && c->in_place ? MPI_IN_PLACE : out, own, c->type,
                   c->root, c->comm);
      break;
    case 6:
      MPI_Allgather(send, c->count, c->type, out, c->count, c->type, c->comm);
      break;
    case 7:
      MPI_Allgatherv(send, own, c->type, out, c->sizes, c->places, c->type, c->comm);
      break;
    case 8:
      MPI_Alltoall(send, c->count, c->type, out, c->count, c->type, c->comm);
      break;
    case 9:
      MPI_Reduce(root_send, out, c->count, c->type, c->op, c->root, c->comm);
      break;
    case 10:
      MPI_Allreduce(send, out, c->count, c->type, c->op, c->comm);
      break;
    case 11:
      MPI_Scan(send, out, c->count, c->type, c->op, c->comm);
      break;
    case 12:
      MPI_Exscan(send, out, c->count, c->type, c->op, c->comm);
      if (c->rank == 0) memset(out, 0, c->room);  // undefined there
      break;
    case 13:
      MPI_Reduce_scatter_block(send, out, c->count, c->type, c->op, c->comm);
      break;
    case 14:
      MPI_Reduce_scatter(send, out, c->sizes, c->type, c->op, c->comm);
      break;
    default:
      break;
  }
}

// In-place, what lies behind the result of a reduce_scatter is undefined.
static size_t defined_bytes(const struct call* c) {
  if (c->collective == 13 && c->in_place) return (size_t)c->count * c->extent;
  if (c->collective == 14 && c->in_place) return (size_t)c->sizes[c->rank] * c->extent;
  return c->room;
}

static unsigned char* result(const struct call* c, int salt, const char* side) {
  unsigned char* in = calloc(1, c->room);
  unsigned char* out = calloc(1, c->room);
  fill(c, in, salt);
  fill(c, out, salt + 3);
  control(side);
  run(c, in, out);
  control("off");
  free(in);
  return out;
}

// What the MPI makes of the call; where it cannot do it in-place, of the same data from a buffer of its own.
static unsigned char* reference(const struct call* c, int salt) {
  if (!aborts_in_place(c)) return result(c, salt, "off");
  struct call separate = *c;
  separate.in_place = 0;
  return result(&separate, salt + 3, "off");
}

static void compare(int k) {
  const struct call c = draw_call();
  unsigned char* expected = reference(&c, k);
  unsigned char* found = result(&c, k, "on");
  context("call %d: collective %u size=%d root=%d in_place=%d count=%d kind=%d", k, c.collective, c.size,
          c.root, c.in_place, c.count, (int)c.kind);
  CHECK(memcmp(expected, found, defined_bytes(&c)) == 0);
  free(expected);
  free(found);
}

static void make_comms(int size) {
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - check_rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comms[3]);
  MPI_Comm_split(comms[2], check_rank < size / 2, 0, &comms[4]);
}

int main(int argc, char** argv) {
  int size = 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *(void**)&control = dlsym(RTLD_DEFAULT, "hocket_control");
  if (!control || control("off") < 0) {
    if (check_rank == 0) printf("Hocket is not attached: nothing to compare\n");
    MPI_Finalize();
    return 77;
  }
  unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (unsigned long long)time(NULL);
  const int calls = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 200;
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  if (check_rank == 0) printf("seed %llu, %d calls\n", seed, calls);
  state = seed;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &strided);
  MPI_Type_commit(&strided);
  make_comms(size);
  for (int k = 0; k < calls; ++k) compare(k);
  for (int i = 1; i < 5; ++i) MPI_Comm_free(&comms[i]);
  MPI_Type_free(&strided);
  return check_finish("differential");
}
