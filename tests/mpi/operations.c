// Operations: predefined ones on many types, location pairs, the user's own (commutative or not), derived
// types with gaps, complex and logical types, freed and reused handles.
#include <complex.h>
#include <stdbool.h>

#include "check.h"

static int rank, size;

// SUM, MAX, MIN and PROD of small numbers, exact in the type.
#define TEST_ARITHMETIC(name, type, mpi_type)                                                       \
  static void name(int n) {                                                                         \
    type* in = malloc(sizeof(type) * (size_t)(n + 1));                                              \
    type* out = malloc(sizeof(type) * (size_t)(n + 1));                                             \
    for (int i = 0; i < n; ++i) in[i] = (type)((rank + i) % 5 + 1);                                 \
    int right[4] = {1, 1, 1, 1};                                                                    \
    const MPI_Op ops[4] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};                                    \
    for (int k = 0; k < 4; ++k) {                                                                   \
      MPI_Allreduce(in, out, n, mpi_type, ops[k], MPI_COMM_WORLD);                                  \
      for (int i = 0; i < n; ++i) {                                                                 \
        type expected = (type)(i % 5 + 1);                                                          \
        for (int r = 1; r < size; ++r) {                                                            \
          const type x = (type)((r + i) % 5 + 1);                                                   \
          expected = (type)(k == 0   ? expected + x                                                 \
                            : k == 1 ? (expected > x ? expected : x)                                \
                            : k == 2 ? (expected < x ? expected : x)                                \
                                     : expected * x);                                               \
        }                                                                                           \
        right[k] &= out[i] == expected || (k == 3 && sizeof(type) == 1); /* products wrap or not */ \
      }                                                                                             \
    }                                                                                               \
    context("%s n=%d", #mpi_type, n);                                                               \
    for (int k = 0; k < 4; ++k) CHECK(right[k]);                                                    \
    free(in);                                                                                       \
    free(out);                                                                                      \
  }

TEST_ARITHMETIC(test_schar, signed char, MPI_SIGNED_CHAR)
TEST_ARITHMETIC(test_uchar, unsigned char, MPI_UNSIGNED_CHAR)
TEST_ARITHMETIC(test_short, short, MPI_SHORT)
TEST_ARITHMETIC(test_unsigned, unsigned, MPI_UNSIGNED)
TEST_ARITHMETIC(test_long, long, MPI_LONG)
TEST_ARITHMETIC(test_llong, long long, MPI_LONG_LONG)
TEST_ARITHMETIC(test_ulong, unsigned long, MPI_UNSIGNED_LONG)
TEST_ARITHMETIC(test_float, float, MPI_FLOAT)
TEST_ARITHMETIC(test_double, double, MPI_DOUBLE)
TEST_ARITHMETIC(test_ldouble, long double, MPI_LONG_DOUBLE)

static void test_bits(int n) {
  unsigned* in = malloc(sizeof *in * (size_t)(n + 1));
  unsigned* out = malloc(sizeof *out * (size_t)(n + 1));
  const MPI_Op ops[3] = {MPI_BAND, MPI_BOR, MPI_BXOR};
  context("bits n=%d", n);
  for (int i = 0; i < n; ++i) in[i] = ~(1u << ((rank + i) % 32));
  for (int k = 0; k < 3; ++k) {
    MPI_Allreduce(in, out, n, MPI_UNSIGNED, ops[k], MPI_COMM_WORLD);
    int right = 1;
    for (int i = 0; i < n; ++i) {
      unsigned expected = ~(1u << (i % 32));
      for (int r = 1; r < size; ++r) {
        const unsigned x = ~(1u << ((r + i) % 32));
        expected = k == 0 ? expected & x : k == 1 ? expected | x : expected ^ x;
      }
      right &= out[i] == expected;
    }
    CHECK(right);
  }
  free(in);
  free(out);
}

static void test_logical(void) {
  bool all = true, one = rank == size - 1, result = false;
  context("logical");
  MPI_Allreduce(&all, &result, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
  CHECK(result == true);
  MPI_Allreduce(&one, &result, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
  CHECK(result == true);
  MPI_Allreduce(&one, &result, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
  CHECK(result == (size == 1));
}

static void test_complex(int n) {
  double complex* in = calloc((size_t)n, sizeof *in);
  double complex* out = calloc((size_t)n, sizeof *out);
  int right = 1;
  for (int i = 0; i < n; ++i) in[i] = rank + 1 + i * I;
  MPI_Allreduce(in, out, n, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) right &= out[i] == size * (size + 1) / 2 + (double)i * size * I;
  context("complex n=%d", n);
  CHECK(right);
  free(in);
  free(out);
}

struct double_int {
  double value;
  int index;
};

static void test_location(int n) {
  struct double_int* in = calloc((size_t)n, sizeof *in);
  struct double_int* out = calloc((size_t)n, sizeof *out);
  for (int i = 0; i < n; ++i) {
    in[i].value = (rank + i) % size;
    in[i].index = rank;
  }
  MPI_Allreduce(in, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= out[i].value == size - 1 && (out[i].index + i) % size == size - 1;
  context("maxloc n=%d", n);
  CHECK(right);
  int pair[2] = {7, rank}, least[2];
  MPI_Allreduce(pair, least, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least[0] == 7 && least[1] == 0);
  MPI_Bcast(in, n, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);  // has a gap: packed
  right = 1;
  for (int i = 0; i < n; ++i) right &= in[i].value == i % size && in[i].index == 0;
  CHECK(right);
  free(in);
  free(out);
}

// Composition of x -> a x + b modulo a prime: associative, not commutative.
enum { prime = 10007 };
static void compose(void* in_data, void* inout_data, int* n, MPI_Datatype* type) {
  const int* in = in_data;
  int* inout = inout_data;
  (void)type;
  for (int i = 0; i < *n; ++i) {
    const int a = in[2 * i], b = in[2 * i + 1], c = inout[2 * i], d = inout[2 * i + 1];
    inout[2 * i] = a * c % prime;
    inout[2 * i + 1] = (c * b + d) % prime;
  }
}

static void fill_map(int* map, int n, int r) {
  for (int i = 0; i < n; ++i) {
    map[2 * i] = (r * 17 + i) % prime + 1;
    map[2 * i + 1] = (r * 31 + 7 * i) % prime;
  }
}

// Composition of the maps of ranks first .. last.
static void composed(int* result, int n, int first, int last) {
  int* next = malloc(sizeof *next * 2 * (size_t)n + 1);
  MPI_Datatype unused = MPI_INT;
  fill_map(result, n, first);
  for (int r = first + 1; r <= last; ++r) {
    fill_map(next, n, r);
    compose(result, next, &n, &unused);
    memcpy(result, next, sizeof *next * 2 * (size_t)n);
  }
  free(next);
}

static void test_order(int n) {
  const size_t bytes = sizeof(int) * 2 * (size_t)n + 1;
  int *in = malloc(bytes), *out = malloc(bytes), *expected = malloc(bytes);
  MPI_Datatype map;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(compose, 0, &op);
  fill_map(in, n, rank);
  context("order n=%d", n);

  composed(expected, n, 0, size - 1);
  MPI_Allreduce(in, out, n, map, op, MPI_COMM_WORLD);
  CHECK(memcmp(out, expected, sizeof(int) * 2 * (size_t)n) == 0);
  for (int root = 0; root < size; ++root) {
    memset(out, 0, bytes);
    MPI_Reduce(in, out, n, map, op, root, MPI_COMM_WORLD);
    CHECK(rank != root || memcmp(out, expected, sizeof(int) * 2 * (size_t)n) == 0);
  }
  composed(expected, n, 0, rank);
  MPI_Scan(in, out, n, map, op, MPI_COMM_WORLD);
  CHECK(memcmp(out, expected, sizeof(int) * 2 * (size_t)n) == 0);
  if (rank > 0) composed(expected, n, 0, rank - 1);
  MPI_Exscan(in, out, n, map, op, MPI_COMM_WORLD);
  CHECK(rank == 0 || memcmp(out, expected, sizeof(int) * 2 * (size_t)n) == 0);
  MPI_Op_free(&op);
  MPI_Type_free(&map);
  free(in);
  free(out);
  free(expected);
}

// Two doubles with a gap of one before and after: the operation sees the type's own layout, the gaps stay
// untouched.
struct gapped {
  double before, x, gap, y, after;
};

static void add_gapped(void* in_data, void* inout_data, int* n, MPI_Datatype* type) {
  const struct gapped* in = in_data;
  struct gapped* inout = inout_data;
  (void)type;
  for (int i = 0; i < *n; ++i) {
    inout[i].x += in[i].x;
    inout[i].y += in[i].y;
  }
}

static MPI_Datatype gapped_type(void) {
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {sizeof(double), 3 * sizeof(double)};
  const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Datatype raw, type;
  MPI_Type_create_struct(2, lengths, places, parts, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(struct gapped), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&raw);
  return type;
}

static void test_gapped(int n) {
  struct gapped* in = malloc(sizeof *in * (size_t)(n + 1));
  struct gapped* out = malloc(sizeof *out * (size_t)(n + 1));
  MPI_Datatype type = gapped_type();
  MPI_Op op;
  MPI_Op_create(add_gapped, 1, &op);
  for (int i = 0; i < n; ++i) {
    in[i] = (struct gapped){-1, rank + 1, -2, 10 * (rank + 1) + i, -3};
    out[i] = (struct gapped){-4, 0, -5, 0, -6};
  }
  MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD);
  int right = 1;
  const double all = size * (size + 1) / 2;
  for (int i = 0; i < n; ++i)
    right &= out[i].x == all && out[i].y == 10 * all + (double)size * i && out[i].before == -4 &&
             out[i].gap == -5 && out[i].after == -6;
  context("gapped n=%d", n);
  CHECK(right);
  MPI_Allreduce(MPI_IN_PLACE, in, n, type, op, MPI_COMM_WORLD);
  right = 1;
  for (int i = 0; i < n; ++i)
    right &= in[i].x == all && in[i].before == -1 && in[i].gap == -2 && in[i].after == -3;
  CHECK(right);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  free(in);
  free(out);
}

// Maps that lie anywhere: at multiples of the type's extent.
static void compose_by_extent(void* in, void* inout, int* n, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  int one = 1;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *n; ++i) compose((char*)in + i * extent, (char*)inout + i * extent, &one, type);
}

static MPI_Datatype map_of_extent(MPI_Aint extent) {
  MPI_Datatype map, type;
  MPI_Type_contiguous(2, MPI_INT, &map);
  MPI_Type_create_resized(map, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&map);
  return type;
}

// One signature, but each rank has its own extent: positive, negative, or, of a single element, zero.
static void test_extents(int n) {
  const size_t map_bytes = 2 * sizeof(int);
  const MPI_Aint extents[3] = {(MPI_Aint)map_bytes, -(MPI_Aint)map_bytes, n == 1 ? 0 : 24};
  const MPI_Aint extent = extents[rank % 3];
  char *in = calloc((size_t)n, 24), *out = calloc((size_t)n, 24);
  char* in_first = in + (extent < 0 ? (n - 1) * -extent : 0);
  char* out_first = out + (extent < 0 ? (n - 1) * -extent : 0);
  int *own = malloc(map_bytes * (size_t)n), *expected = malloc(map_bytes * (size_t)n);
  MPI_Datatype type = map_of_extent(extent);
  MPI_Op op;
  MPI_Op_create(compose_by_extent, 0, &op);
  fill_map(own, n, rank);
  for (int i = 0; i < n; ++i) memcpy(in_first + i * extent, own + 2 * i, map_bytes);
  context("extent %d n=%d", (int)extent, n);

  composed(expected, n, 0, size - 1);
  MPI_Allreduce(in_first, out_first, n, type, op, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= memcmp(out_first + i * extent, expected + 2 * i, map_bytes) == 0;
  CHECK(right);
  composed(expected, n, 0, rank);
  MPI_Scan(in_first, out_first, n, type, op, MPI_COMM_WORLD);
  right = 1;
  for (int i = 0; i < n; ++i) right &= memcmp(out_first + i * extent, expected + 2 * i, map_bytes) == 0;
  CHECK(right);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  free(in);
  free(out);
  free(own);
  free(expected);
}

// A vector whose elements all lie in one place, which only senders may have.
static void test_one_place_for_all(void) {
  enum { n = 3 };
  int own[2 * n], out[2 * n] = {0}, expected[2 * n], next[2 * n], length = n;
  MPI_Datatype type = map_of_extent(rank == 0 ? 2 * sizeof(int) : 0), unused = MPI_INT;
  MPI_Op op;
  MPI_Op_create(compose_by_extent, 0, &op);
  fill_map(own, n, rank);
  MPI_Reduce(own, out, n, type, op, 0, MPI_COMM_WORLD);
  fill_map(expected, n, 0);
  for (int r = 1; r < size; ++r) {
    fill_map(next, n, r);
    for (int i = 1; i < n; ++i) memcpy(next + 2 * i, next, 2 * sizeof(int));
    compose(expected, next, &length, &unused);
    memcpy(expected, next, sizeof next);
  }
  context("one place for all");
  CHECK(rank != 0 || memcmp(out, expected, sizeof out) == 0);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

// indexed({1,1}, {1,0}) has neither gap nor bound to tell that it swaps.
static void test_swapping(void) {
  const int lengths[2] = {1, 1}, places[2] = {1, 0};
  MPI_Datatype swap;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &swap);
  MPI_Type_commit(&swap);
  int data[2] = {rank == 0 ? 10 : 0, rank == 0 ? 20 : 0};
  if (rank == 0)
    MPI_Bcast(data, 1, swap, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(data, 2, MPI_INT, 0, MPI_COMM_WORLD);
  context("swapping");
  CHECK(rank == 0 ? data[0] == 10 && data[1] == 20 : data[0] == 20 && data[1] == 10);
  MPI_Type_free(&swap);
}

// Handles are reused at once: what was known about the old one must be gone.
static void test_reuse(void) {
  context("reuse");
  for (int k = 1; k < 20; ++k) {
    MPI_Datatype type;
    int data[64];
    for (int i = 0; i < 64; ++i) data[i] = rank == 0 ? i : -1;
    MPI_Type_vector(k, 1, k % 3 + 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    int right = 1;
    for (int i = 0; i < k; ++i) right &= data[i * (k % 3 + 1)] == i * (k % 3 + 1);
    CHECK(right);
    MPI_Type_free(&type);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, k % 2 ? rank % 2 : 0, k % 3 ? rank : -rank, &part);
    int sum = 1, all = 0, expected = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, part);
    MPI_Comm_size(part, &expected);
    CHECK(all == expected);
    MPI_Comm_free(&part);
  }
}

int main(int argc, char** argv) {
  static const int counts[] = {1, 5, 100, 3000, 40000};
  check_start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
    void (*const tests[])(int) = {test_schar,    test_uchar,   test_short,  test_unsigned,
                                  test_long,     test_llong,   test_ulong,  test_float,
                                  test_double,   test_ldouble, test_bits,   test_complex,
                                  test_location, test_order,   test_gapped, test_extents};
    for (size_t t = 0; t < sizeof tests / sizeof *tests; ++t) tests[t](counts[k]);
  }
  test_logical();
  test_one_place_for_all();
  test_swapping();
  test_reuse();
  return check_finish("operations");
}
