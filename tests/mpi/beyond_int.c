// More than 2^31 bytes and elements in one call; `started`: in a non-blocking one. Takes some gigabytes: for
// `make test-long`.
#include <string.h>

#include "check.h"

enum { block = 1 << 20 };

static int started;

static unsigned char* allocated(size_t bytes) {
  unsigned char* data = malloc(bytes);
  if (data) return data;
  printf("SKIPPED: no memory for %zu bytes\n", bytes);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 77);
  exit(77);
}

// 2^31 + 3 * 2^20 bytes as few elements of a large type.
static void test_bytes(void) {
  const int blocks = 2048 + 3;
  const size_t bytes = (size_t)blocks * block;
  MPI_Datatype type;
  MPI_Type_contiguous(block, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  unsigned char* data = allocated(bytes);
  for (size_t i = 0; i < bytes; i += 4093)
    data[i] = check_rank == 0 ? (unsigned char)(i * 31 + i / 65536) : 0;
  if (started) {
    MPI_Request request;
    MPI_Ibcast(data, blocks, type, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Bcast(data, blocks, type, 0, MPI_COMM_WORLD);
  }
  int right = 1;
  for (size_t i = 0; i < bytes; i += 4093) right &= data[i] == (unsigned char)(i * 31 + i / 65536);
  context("bcast of %zu bytes", bytes);
  CHECK(right);
  MPI_Type_free(&type);
  free(data);
}

#if MPI_VERSION >= 4
static void test_elements(int size) {
  const MPI_Count n = (MPI_Count)2 * block * 1024 + 5;
  unsigned char* data = allocated((size_t)n);
  for (MPI_Count i = 0; i < n; ++i) data[i] = (unsigned char)(i % 7 + check_rank);
  if (started) {
    MPI_Request request;
    MPI_Iallreduce_c(MPI_IN_PLACE, data, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Allreduce_c(MPI_IN_PLACE, data, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  }
  int right = 1;
  for (MPI_Count i = 0; i < n; ++i)
    right &= data[i] == (unsigned char)(size * (i % 7) + size * (size - 1) / 2);
  context("allreduce of %lld elements", (long long)n);
  CHECK(right);
  free(data);
}
#else
static void test_elements(int size) {
  (void)size;
}
#endif

int main(int argc, char** argv) {
  int size;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  started = argc > 1 && strcmp(argv[1], "started") == 0;
  if (started) MPI_Barrier(MPI_COMM_WORLD);  // non-blocking calls before the first blocking one are the MPI's
  test_bytes();
  test_elements(size);
  return check_finish("beyond_int");
}
