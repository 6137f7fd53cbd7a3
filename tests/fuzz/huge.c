// More than 2^31 bytes in one call: by a type of a megabyte, and by large counts where the MPI has them (MPI
// 4). One buffer of 2.1 GiB per rank; sparse samples are checked.
#include <stdint.h>

#include "mpi/check.h"

static const size_t megabyte = 1 << 20;
static const int elements = 2100;

static size_t sample(size_t k, size_t all) {
  return (k * 1000003 * 4099 + 12345) % all;
}
static unsigned char value(size_t i, int salt) {
  return (unsigned char)(i * 31 + (i >> 20) + (size_t)salt);
}

static void fill(unsigned char* data, size_t all, int salt) {
  for (size_t k = 0; k < 5000; ++k) data[sample(k, all)] = value(sample(k, all), salt);
  data[all - 1] = value(all - 1, salt);
}

static void expect(const unsigned char* data, size_t all, int salt) {
  for (size_t k = 0; k < 5000; ++k) CHECK(data[sample(k, all)] == value(sample(k, all), salt));
  CHECK(data[all - 1] == value(all - 1, salt));
}

int main(int argc, char** argv) {
  MPI_Datatype block;
  check_start(&argc, &argv);
  const size_t all = (size_t)elements * megabyte;
  unsigned char* data = calloc(all, 1);
  if (!data) {
    printf("SKIPPED: no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 77);
    return 77;
  }
  MPI_Type_contiguous((int)megabyte, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  if (check_rank == 0) fill(data, all, 3);
  context("2100 elements of a megabyte");
  MPI_Bcast(data, elements, block, 0, MPI_COMM_WORLD);
  expect(data, all, 3);
  MPI_Type_free(&block);
#if MPI_VERSION >= 4
  memset(data, 0, all);
  if (check_rank == 1) fill(data, all, 5);
  context("large count");
  MPI_Allreduce_c(MPI_IN_PLACE, data, (MPI_Count)all, MPI_UINT8_T, MPI_MAX, MPI_COMM_WORLD);
  expect(data, all, 5);
#endif
  free(data);
  return check_finish("huge");
}
