// The signature of a message is what MPI obliges ranks to agree on, not its type map: here every rank draws
// its own layout of the same integers (contiguous, strided, with a negative lower bound, with gaps, resized,
// half-size elements twice as often) for every call, and every integer that arrives is checked. Reductions
// use an operation that does not commute, on types with gaps.
#include <stdint.h>

#include "mpi/check.h"

enum { ints = 4, shapes = 6, most_ranks = 16, sizes = 8 };

// One element: where its integers are.
struct shape {
  MPI_Datatype type;
  int ints;
  MPI_Aint extent, places[ints];
};

static struct shape all[shapes];
static unsigned long long common, own;

static unsigned draw(unsigned long long* state, unsigned below) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*state >> 33) % below;
}

static void make(struct shape* s, int n, const MPI_Aint* places, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype bare;
  int lengths[ints] = {1, 1, 1, 1};
  MPI_Type_create_hindexed(n, lengths, places, MPI_INT, &bare);
  MPI_Type_create_resized(bare, lower, extent, &s->type);
  MPI_Type_commit(&s->type);
  MPI_Type_free(&bare);
  s->ints = n;
  s->extent = extent;
  memcpy(s->places, places, (size_t)n * sizeof *places);
}

static void make_shapes(void) {
  make(&all[0], 4, (MPI_Aint[]){0, 4, 8, 12}, 0, 16);
  make(&all[1], 4, (MPI_Aint[]){0, 8, 16, 24}, 0, 32);
  make(&all[2], 4, (MPI_Aint[]){-8, -4, 4, 12}, -8, 24);
  make(&all[3], 4, (MPI_Aint[]){12, 0, 8, 4}, 0, 20);
  make(&all[4], 2, (MPI_Aint[]){0, 4}, 0, 8);
  make(&all[5], 2, (MPI_Aint[]){4, 0}, -4, 12);
}

// `elements` counts groups of four integers.
struct side {
  const struct shape* shape;
  unsigned char *memory, *base;
  int elements, count;
};

static struct side side_of(int elements, int blocks) {
  struct side s = {.shape = &all[draw(&own, shapes)], .elements = elements};
  const size_t room = (size_t)elements * (size_t)blocks * 2 * 40 + 64;
  s.count = elements * (ints / s.shape->ints);
  s.memory = malloc(room);
  memset(s.memory, 0xee, room);
  s.base = s.memory + 32;
  return s;
}

static int* place(const struct side* s, int i) {
  const int n = s->shape->ints;
  return (int*)(s->base + (MPI_Aint)(i / n) * s->shape->extent + s->shape->places[i % n]);
}

static int value(int from, int to, int i) {
  return from * 1000000 + to * 10000 + i % 9973;
}

static void put(const struct side* s, int block, int from, int to) {
  for (int i = 0; i < s->elements * ints; ++i) *place(s, block * s->elements * ints + i) = value(from, to, i);
}

static void expect(const struct side* s, int block, int from, int to) {
  for (int i = 0; i < s->elements * ints; ++i)
    CHECK(*place(s, block * s->elements * ints + i) == value(from, to, i));
}

static void let_go(struct side* s) {
  free(s->memory);
}

static void blocks(int kind, int elements, int root, int rank, int size) {
  struct side in = side_of(elements, size), out = side_of(elements, size);
  const MPI_Datatype sent = in.shape->type, got = out.shape->type;
  int in_counts[most_ranks], out_counts[most_ranks], in_places[most_ranks], out_places[most_ranks];
  for (int r = 0; r < size; ++r) {
    put(&in, r, rank, kind == 2 ? 0 : r);
    in_counts[r] = in.count, out_counts[r] = out.count;
    in_places[r] = r * in.count, out_places[r] = r * out.count;
  }
  switch (kind) {
    case 0:
      MPI_Alltoall(in.base, in.count, sent, out.base, out.count, got, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Alltoallv(in.base, in_counts, in_places, sent, out.base, out_counts, out_places, got,
                    MPI_COMM_WORLD);
      break;
    case 2:
      MPI_Allgather(in.base, in.count, sent, out.base, out.count, got, MPI_COMM_WORLD);
      break;
    default:
      MPI_Scatter(in.base, in.count, sent, out.base, out.count, got, root, MPI_COMM_WORLD);
      break;
  }
  for (int r = 0; r < (kind == 3 ? 1 : size); ++r)
    expect(&out, r, kind == 3 ? root : r, kind == 2 ? 0 : rank);
  let_go(&in);
  let_go(&out);
}

static void gathered(int varying, int elements, int root, int rank, int size) {
  struct side in = side_of(elements, 1), out = side_of(elements, size);
  int counts[most_ranks], places[most_ranks];
  for (int r = 0; r < size; ++r) counts[r] = out.count, places[r] = r * out.count;
  put(&in, 0, rank, root);
  if (varying)
    MPI_Gatherv(in.base, in.count, in.shape->type, out.base, counts, places, out.shape->type, root,
                MPI_COMM_WORLD);
  else
    MPI_Gather(in.base, in.count, in.shape->type, out.base, out.count, out.shape->type, root, MPI_COMM_WORLD);
  for (int r = 0; rank == root && r < size; ++r) expect(&out, r, r, root);
  let_go(&in);
  let_go(&out);
}

static void broadcast(int elements, int root, int rank) {
  struct side s = side_of(elements, 1);
  if (rank == root) put(&s, 0, root, 7);
  MPI_Bcast(s.base, s.count, s.shape->type, root, MPI_COMM_WORLD);
  expect(&s, 0, root, 7);
  let_go(&s);
}

// 2 x 2 matrices modulo a prime: their product depends on the order.
static const int prime = 9973;
struct matrix {
  int m[4];
};
static struct matrix product(struct matrix a, struct matrix b) {
  struct matrix c;
  for (int i = 0; i < 4; ++i)
    c.m[i] = (a.m[i / 2 * 2] * b.m[i % 2] + a.m[i / 2 * 2 + 1] * b.m[2 + i % 2]) % prime;
  return c;
}
static struct matrix matrix_of(int rank, int i) {
  return (struct matrix){
      {(rank * 7 + i + 1) % prime, (i * 3 + 2) % prime, (rank + 5) % prime, (rank * i + 3) % prime}};
}
static struct matrix folded(int first, int end, int i) {
  struct matrix result = matrix_of(first, i);
  for (int r = first + 1; r < end; ++r) result = product(result, matrix_of(r, i));
  return result;
}

static const struct shape* reduced;
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  struct side a = {.shape = reduced, .base = in}, b = {.shape = reduced, .base = inout};
  (void)type;
  for (int i = 0; i < *count; ++i) {
    struct matrix x, y;
    for (int k = 0; k < 4; ++k) x.m[k] = *place(&a, i * 4 + k), y.m[k] = *place(&b, i * 4 + k);
    y = product(x, y);
    for (int k = 0; k < 4; ++k) *place(&b, i * 4 + k) = y.m[k];
  }
}

static void expect_folded(const struct side* s, int from, int elements, int end) {
  for (int i = 0; i < elements; ++i) {
    const struct matrix expected = folded(0, end, from + i);
    for (int k = 0; k < 4; ++k) CHECK(*place(s, i * 4 + k) == expected.m[k]);
  }
}

static void reduction(int kind, int elements, int root, int rank, int size, MPI_Op op) {
  reduced = &all[draw(&common, 4)];
  struct side in = side_of(elements, size), out = side_of(elements, size);
  in.shape = out.shape = reduced;
  const MPI_Datatype type = reduced->type;
  const int all_elements = kind == 4 ? elements * size : elements;
  for (int i = 0; i < all_elements; ++i)
    for (int k = 0; k < 4; ++k) *place(&in, i * 4 + k) = matrix_of(rank, i).m[k];
  switch (kind) {
    case 0:
      MPI_Allreduce(in.base, out.base, elements, type, op, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Reduce(in.base, out.base, elements, type, op, root, MPI_COMM_WORLD);
      break;
    case 2:
      MPI_Scan(in.base, out.base, elements, type, op, MPI_COMM_WORLD);
      break;
    case 3:
      MPI_Exscan(in.base, out.base, elements, type, op, MPI_COMM_WORLD);
      break;
    default:
      MPI_Reduce_scatter_block(in.base, out.base, elements, type, op, MPI_COMM_WORLD);
      break;
  }
  const int end = kind == 2 ? rank + 1 : kind == 3 ? rank : size;
  if ((kind != 1 || rank == root) && end > 0)
    expect_folded(&out, kind == 4 ? rank * elements : 0, elements, end);
  let_go(&in);
  let_go(&out);
}

static void nothing(int root) {
  MPI_Bcast(NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, all[1].type, NULL, 0, all[2].type, MPI_COMM_WORLD);
  MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const int counts[sizes] = {0, 1, 2, 3, 17, 130, 700, 5000};
  int size = 0;
  MPI_Op op;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const unsigned long long seed = check_seed(argc, argv);
  common = seed;
  own = seed * 31 + (unsigned long long)check_rank * 977;
  make_shapes();
  MPI_Op_create(multiply, 0, &op);
  for (int k = 0; k < 400; ++k) {
    const int call = (int)draw(&common, 13), elements = counts[draw(&common, sizes)];
    const int root = (int)draw(&common, (unsigned)size);
    context("seed %llu, step %d: call %d, %d elements, root %d", seed, k, call, elements, root);
    if (call < 4) blocks(call, elements, root, check_rank, size);
    if (call == 4 || call == 5) gathered(call == 5, elements, root, check_rank, size);
    if (call == 6) broadcast(elements, root, check_rank);
    if (call > 6 && call < 12) reduction(call - 7, elements, root, check_rank, size, op);
    if (call == 12) nothing(root);
  }
  MPI_Op_free(&op);
  for (int k = 0; k < shapes; ++k) MPI_Type_free(&all[k].type);
  return check_finish("type_maps");
}
