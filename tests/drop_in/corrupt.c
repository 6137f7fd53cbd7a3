// Stands before Hocket and damages the first byte of what MPI_Allreduce brings, so that a suite of tests can
// show that it notices wrong results. One source for every MPI: the six arguments are integers or pointers,
// which registers carry alike. The large-count form is the one that mpi4py calls.
#define _GNU_SOURCE
#include <dlfcn.h>

typedef int (*function)(long, long, long, long, long, long);

static int damaged(const char* name, long in, long out, long count, long type, long op, long comm) {
  const function next = (function)dlsym(RTLD_NEXT, name);
  if (!next) return 15;  // MPI_ERR_OTHER of most
  const int code = next(in, out, count, type, op, comm);
  if (code == 0 && (int)count > 0) *(unsigned char*)out ^= 1;
  return code;
}

int MPI_Allreduce(long in, long out, long count, long type, long op, long comm) {
  return damaged("MPI_Allreduce", in, out, count, type, op, comm);
}

int MPI_Allreduce_c(long in, long out, long count, long type, long op, long comm) {
  return damaged("MPI_Allreduce_c", in, out, count, type, op, comm);
}
