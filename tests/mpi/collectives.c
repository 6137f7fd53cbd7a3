// Every blocking collective against values computed here: counts, roots, in-place, data types, operations,
// sub-communicators. Element i of rank r's data is a small number made of r and i, so that sums are exact in
// every type.
#include "check.h"

static const int counts[] = {0, 1, 3, 7, 64, 1000, 16385};
enum { count_cases = sizeof counts / sizeof *counts };

struct comm {
  MPI_Comm handle;
  const char* name;
  int rank, size;
};

static int value(int rank, int i) {
  return (rank + 1) * 3 + i % 11;
}
static int sum_to(int ranks, int i) {
  return 3 * ranks * (ranks + 1) / 2 + ranks * (i % 11);
}

static int* ints(long n) {
  int* p = malloc(sizeof *p * (size_t)(n > 0 ? n : 1));
  for (long i = 0; i < n; ++i) p[i] = -1;
  return p;
}

static int* filled(int rank, int first, int n) {
  int* p = ints(n);
  for (int i = 0; i < n; ++i) p[i] = value(rank, first + i);
  return p;
}

static void test_barrier(const struct comm* c) {
  context("barrier %s", c->name);
  for (int i = 0; i < 20; ++i) CHECK(MPI_Barrier(c->handle) == MPI_SUCCESS);
}

static void test_bcast(const struct comm* c, int n, int root) {
  context("bcast %s n=%d root=%d", c->name, n, root);
  int* data = c->rank == root ? filled(root, 0, n) : ints(n);
  MPI_Bcast(data, n, MPI_INT, root, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= data[i] == value(root, i);
  CHECK(right);
  free(data);
}

// Same signature, other type maps: the root sends strided, the others receive plain.
static void test_bcast_types(const struct comm* c, int n, int root) {
  context("bcast types %s n=%d root=%d", c->name, n, root);
  MPI_Datatype strided;
  MPI_Type_vector(n, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  int* data = ints(2L * n + 1);
  if (c->rank == root)
    for (int i = 0; i < n; ++i) data[2 * i] = value(root, i);
  const int is_strided = (c->rank + root) % 2 == 0;
  MPI_Bcast(data, is_strided ? 1 : n, is_strided ? strided : MPI_INT, root, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= data[is_strided ? 2 * i : i] == value(root, i);
  if (is_strided)
    for (int i = 0; i < n; ++i) right &= data[2 * i + 1] == -1;
  CHECK(right);
  MPI_Type_free(&strided);
  free(data);
}

static void test_reduce(const struct comm* c, int n, int root, int in_place) {
  context("reduce %s n=%d root=%d in_place=%d", c->name, n, root, in_place);
  int* in = filled(c->rank, 0, n);
  int* out = ints(n);
  const int here = c->rank == root;
  if (in_place && here) memcpy(out, in, sizeof *in * (size_t)n);
  MPI_Reduce(in_place && here ? MPI_IN_PLACE : in, here ? out : NULL, n, MPI_INT, MPI_SUM, root, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i)
    right &= out[i] == (here ? sum_to(c->size, i) : -1) && in[i] == value(c->rank, i);
  CHECK(right);
  free(in);
  free(out);
}

static void test_allreduce(const struct comm* c, int n, int in_place) {
  context("allreduce %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n);
  int* out = in_place ? in : ints(n);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= out[i] == sum_to(c->size, i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_scan(const struct comm* c, int n, int in_place) {
  context("scan %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n);
  int* out = in_place ? in : ints(n);
  MPI_Scan(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= out[i] == sum_to(c->rank + 1, i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_exscan(const struct comm* c, int n, int in_place) {
  context("exscan %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n);
  int* out = in_place ? in : ints(n);
  MPI_Exscan(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, c->handle);
  int right = 1;
  for (int i = 0; i < n && c->rank > 0; ++i) right &= out[i] == sum_to(c->rank, i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_gather(const struct comm* c, int n, int root, int in_place) {
  context("gather %s n=%d root=%d in_place=%d", c->name, n, root, in_place);
  const int here = c->rank == root;
  int* in = filled(c->rank, 0, n);
  int* out = ints(here ? (long)n * c->size : 0);
  if (in_place && here) memcpy(out + (long)root * n, in, sizeof *in * (size_t)n);
  MPI_Gather(in_place && here ? MPI_IN_PLACE : in, n, MPI_INT, here ? out : NULL, here ? n : -7,
             here ? MPI_INT : MPI_DATATYPE_NULL, root, c->handle);
  int right = 1;
  for (int r = 0; r < c->size && here; ++r)
    for (int i = 0; i < n; ++i) right &= out[(long)r * n + i] == value(r, i);
  CHECK(right);
  free(in);
  free(out);
}

static void test_scatter(const struct comm* c, int n, int root, int in_place) {
  context("scatter %s n=%d root=%d in_place=%d", c->name, n, root, in_place);
  const int here = c->rank == root;
  int* in = here ? filled(root, 0, n * c->size) : NULL;
  int* out = ints(n);
  MPI_Scatter(in, here ? n : -7, here ? MPI_INT : MPI_DATATYPE_NULL, in_place && here ? MPI_IN_PLACE : out, n,
              MPI_INT, root, c->handle);
  int right = 1;
  for (int i = 0; i < n && !(in_place && here); ++i) right &= out[i] == value(root, c->rank * n + i);
  for (int i = 0; i < n * c->size && here; ++i) right &= in[i] == value(root, i);
  CHECK(right);
  free(in);
  free(out);
}

static void test_allgather(const struct comm* c, int n, int in_place) {
  context("allgather %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n);
  int* out = ints((long)n * c->size);
  if (in_place) memcpy(out + (long)c->rank * n, in, sizeof *in * (size_t)n);
  MPI_Allgather(in_place ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, c->handle);
  int right = 1;
  for (int r = 0; r < c->size; ++r)
    for (int i = 0; i < n; ++i) right &= out[(long)r * n + i] == value(r, i);
  CHECK(right);
  free(in);
  free(out);
}

static void test_alltoall(const struct comm* c, int n, int in_place) {
  context("alltoall %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n * c->size);
  int* out = in_place ? in : ints((long)n * c->size);
  MPI_Alltoall(in_place ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, c->handle);
  int right = 1;
  for (int r = 0; r < c->size; ++r)
    for (int i = 0; i < n; ++i) right &= out[(long)r * n + i] == value(r, c->rank * n + i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_reduce_scatter_block(const struct comm* c, int n, int in_place) {
  context("reduce_scatter_block %s n=%d in_place=%d", c->name, n, in_place);
  int* in = filled(c->rank, 0, n * c->size);
  int* out = in_place ? in : ints(n);
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, c->handle);
  int right = 1;
  for (int i = 0; i < n; ++i) right &= out[i] == sum_to(c->size, c->rank * n + i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

// v-forms: rank r has n + r elements, one rank none at all; blocks lie in reverse order with gaps.
static int block_size(int n, int r) {
  return r == 1 ? 0 : n + r;
}

static long reversed_layout(const struct comm* c, int n, int* sizes, int* displacements) {
  long end = 0;
  for (int r = c->size - 1; r >= 0; --r) {
    sizes[r] = block_size(n, r);
    displacements[r] = (int)end;
    end += sizes[r] + 2;
  }
  return end;
}

static void test_gatherv(const struct comm* c, int n, int root, int in_place) {
  context("gatherv %s n=%d root=%d in_place=%d", c->name, n, root, in_place);
  int sizes[64], displacements[64];
  const long room = reversed_layout(c, n, sizes, displacements);
  const int here = c->rank == root, own = sizes[c->rank];
  int* in = filled(c->rank, 0, own);
  int* out = ints(room);
  if (in_place && here) memcpy(out + displacements[root], in, sizeof *in * (size_t)own);
  MPI_Gatherv(in_place && here ? MPI_IN_PLACE : in, own, MPI_INT, out, here ? sizes : NULL,
              here ? displacements : NULL, MPI_INT, root, c->handle);
  int right = 1;
  for (int r = 0; r < c->size && here; ++r) {
    for (int i = 0; i < sizes[r]; ++i) right &= out[displacements[r] + i] == value(r, i);
    right &= out[displacements[r] + sizes[r]] == -1;
  }
  CHECK(right);
  free(in);
  free(out);
}

static void test_scatterv(const struct comm* c, int n, int root, int in_place) {
  context("scatterv %s n=%d root=%d in_place=%d", c->name, n, root, in_place);
  int sizes[64], displacements[64];
  const long room = reversed_layout(c, n, sizes, displacements);
  const int here = c->rank == root, own = sizes[c->rank];
  int* in = filled(root, 0, (int)room);
  int* out = ints(own + 1);
  MPI_Scatterv(here ? in : NULL, here ? sizes : NULL, here ? displacements : NULL, MPI_INT,
               in_place && here ? MPI_IN_PLACE : out, own, MPI_INT, root, c->handle);
  int right = out[own] == -1;
  for (int i = 0; i < own && !(in_place && here); ++i)
    right &= out[i] == value(root, displacements[c->rank] + i);
  CHECK(right);
  free(in);
  free(out);
}

static void test_allgatherv(const struct comm* c, int n, int in_place) {
  context("allgatherv %s n=%d in_place=%d", c->name, n, in_place);
  int sizes[64], displacements[64];
  const long room = reversed_layout(c, n, sizes, displacements);
  const int own = sizes[c->rank];
  int* in = filled(c->rank, 0, own);
  int* out = ints(room);
  if (in_place) memcpy(out + displacements[c->rank], in, sizeof *in * (size_t)own);
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : in, own, MPI_INT, out, sizes, displacements, MPI_INT, c->handle);
  int right = 1;
  for (int r = 0; r < c->size; ++r) {
    for (int i = 0; i < sizes[r]; ++i) right &= out[displacements[r] + i] == value(r, i);
    right &= out[displacements[r] + sizes[r]] == -1;
  }
  CHECK(right);
  free(in);
  free(out);
}

// Rank a sends (a + b) % 3 * n elements to rank b: symmetric, so that it also works in-place.
static void test_alltoallv(const struct comm* c, int n, int in_place) {
  context("alltoallv %s n=%d in_place=%d", c->name, n, in_place);
  int sizes[64], displacements[64], end = 0;
  for (int r = c->size - 1; r >= 0; --r) {
    sizes[r] = (c->rank + r) % 3 * n;
    displacements[r] = end;
    end += sizes[r] + 1;
  }
  int* in = ints(end);
  int* out = in_place ? in : ints(end);
  for (int r = 0; r < c->size; ++r)
    for (int i = 0; i < sizes[r]; ++i) in[displacements[r] + i] = value(c->rank, 5 * r + i);
  MPI_Alltoallv(in_place ? MPI_IN_PLACE : in, in_place ? NULL : sizes, in_place ? NULL : displacements,
                MPI_INT, out, sizes, displacements, MPI_INT, c->handle);
  int right = 1;
  for (int r = 0; r < c->size; ++r) {
    for (int i = 0; i < sizes[r]; ++i) right &= out[displacements[r] + i] == value(r, 5 * c->rank + i);
    right &= out[displacements[r] + sizes[r]] == -1;
  }
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_reduce_scatter(const struct comm* c, int n, int in_place) {
  context("reduce_scatter %s n=%d in_place=%d", c->name, n, in_place);
  int sizes[64], all = 0, first = 0;
  for (int r = 0; r < c->size; ++r) {
    sizes[r] = block_size(n, r);
    if (r < c->rank) first += sizes[r];
    all += sizes[r];
  }
  int* in = filled(c->rank, 0, all);
  int* out = in_place ? in : ints(sizes[c->rank]);
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, sizes, MPI_INT, MPI_SUM, c->handle);
  int right = 1;
  for (int i = 0; i < sizes[c->rank]; ++i) right &= out[i] == sum_to(c->size, first + i);
  CHECK(right);
  free(in);
  if (!in_place) free(out);
}

static void test_unrooted(const struct comm* c, int n, int in_place) {
  test_allreduce(c, n, in_place);
  test_scan(c, n, in_place);
  test_exscan(c, n, in_place);
  test_allgather(c, n, in_place);
  test_allgatherv(c, n, in_place);
  test_alltoall(c, n, in_place);
  test_alltoallv(c, n, in_place);
  test_reduce_scatter_block(c, n, in_place);
  test_reduce_scatter(c, n, in_place);
}

static void test_rooted(const struct comm* c, int n, int root) {
  test_bcast(c, n, root);
  test_bcast_types(c, n, root);
  for (int in_place = 0; in_place < 2; ++in_place) {
    test_reduce(c, n, root, in_place);
    test_gather(c, n, root, in_place);
    test_gatherv(c, n, root, in_place);
    test_scatter(c, n, root, in_place);
    test_scatterv(c, n, root, in_place);
  }
}

static void test_all(MPI_Comm handle, const char* name) {
  if (handle == MPI_COMM_NULL) return;
  struct comm c = {handle, name, 0, 0};
  MPI_Comm_rank(handle, &c.rank);
  MPI_Comm_size(handle, &c.size);
  test_barrier(&c);
  for (int k = 0; k < count_cases; ++k) {
    test_unrooted(&c, counts[k], 0);
    test_unrooted(&c, counts[k], 1);
    for (int root = 0; root < c.size; root += c.size > 4 ? 3 : 1) test_rooted(&c, counts[k], root);
  }
  test_barrier(&c);
}

static void test_sub_communicators(int rank, int size) {
  MPI_Comm part;
  MPI_Comm_dup(MPI_COMM_WORLD, &part);
  test_all(part, "dup");
  MPI_Comm_free(&part);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &part);
  test_all(part, "reversed");
  MPI_Comm_free(&part);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  test_all(part, "odd-even");
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  int size = 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_all(MPI_COMM_WORLD, "world");
  test_all(MPI_COMM_SELF, "self");
  test_sub_communicators(check_rank, size);
  return check_finish("collectives");
}
