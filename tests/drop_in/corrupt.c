// Stands before Hocket and damages the first byte of what MPI_Allreduce and MPI_Bcast bring, so that a suite
// of tests can show that it notices wrong results. One source for every MPI: the six arguments are integers
// or pointers, which registers carry alike. The large-count forms are the ones that mpi4py calls.
#define _GNU_SOURCE
#include <dlfcn.h>

typedef int (*function)(long, long, long, long, long, long);

static int forward(const char* name, const long* a, unsigned char* result) {
  const function next = (function)dlsym(RTLD_NEXT, name);
  if (!next) return 15;  // MPI_ERR_OTHER of most
  const int code = next(a[0], a[1], a[2], a[3], a[4], a[5]);
  if (code == 0 && result) *result ^= 1;
  return code;
}

#define EXPORT __attribute__((visibility("default")))
#define DAMAGED(NAME, RESULT, COUNT)                                                                \
  EXPORT int NAME(long a, long b, long c, long d, long e, long f) {                                 \
    const long all[] = {a, b, c, d, e, f};                                                          \
    return forward(#NAME, all, (int)(COUNT) > 0 && (RESULT) > 4096 ? (unsigned char*)(RESULT) : 0); \
  }

DAMAGED(MPI_Allreduce, b, c)
DAMAGED(MPI_Bcast, a, b)
DAMAGED(MPI_Allreduce_c, b, c)
DAMAGED(MPI_Bcast_c, a, b)
