// A stand-in for an MPI library, small enough to check what stage 0 does to calls. Built several times by
// stage0_test.py: the soname and FAKE_OPEN_MPI / FAKE_MPICH decide which family it looks like. Results are
// recognisable numbers.
#include <stddef.h>

#define BOTH(name) __attribute__((weak, alias("PMPI_" #name)))

#ifdef FAKE_OPEN_MPI
int ompi_mpi_comm_world = 42;
#endif
#ifdef FAKE_MPICH
int MPIR_Err_return_comm(void) {
  return 0;
}
#endif

int fake_barriers;

int PMPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
int MPI_Init(int*, char***) BOTH(Init);

int PMPI_Barrier(void* comm) {
  (void)comm;
  return ++fake_barriers;
}
int MPI_Barrier(void*) BOTH(Barrier);

// The library calling itself through the public name, as ROMIO does.
int MPI_Cart_create(void);
int PMPI_Cart_create(void) {
  return MPI_Barrier(NULL);
}
int MPI_Cart_create(void) BOTH(Cart_create);

// No MPI call has such arguments; they fill all argument registers and some of the stack.
double PMPI_Scan(long a, long b, long c, long d, long e, long f, double p, double q, double r, double s,
                 double t, double u, double v, double w, long g, double x, long h) {
  return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h + p / 2 + q / 4 + r / 8 + s / 16 +
         t / 32 + u / 64 + v / 128 + w / 256 + x / 512;
}
double MPI_Scan(long, long, long, long, long, long, double, double, double, double, double, double, double,
                double, long, double, long) BOTH(Scan);

// A variadic function learns from %al how many vector registers carry arguments.
double PMPI_Exscan(int count, ...) {
  __builtin_va_list arguments;
  double sum = 0;
  __builtin_va_start(arguments, count);
  for (int i = 0; i < count; ++i) sum += __builtin_va_arg(arguments, double);
  __builtin_va_end(arguments);
  return sum;
}
double MPI_Exscan(int, ...) BOTH(Exscan);

// Not intercepted: the native side of the cost measurement, the same function under a name stage 0 does not
// export.
int PMPI_Comm_rank(void* comm, int* rank) {
  (void)comm;
  *rank = 0;
  return 0;
}
int MPI_Comm_rank(void*, int*) BOTH(Comm_rank);
int PMPI_Op_free(void* comm, int* rank) {
  (void)comm;
  *rank = 1;  // not the same body, or the compiler makes one function of the two
  return 0;
}
int MPI_Op_free(void*, int*) BOTH(Op_free);
