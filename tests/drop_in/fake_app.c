// The program under test: `fake_app WHAT`, prints what came of it. Linked to fake_mpi.c's library, knows
// nothing of Hocket but what it finds in the global scope.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int MPI_Init(int*, char***);
int MPI_Barrier(void*);
int PMPI_Barrier(void*);
int MPI_Cart_create(void);
double MPI_Scan(long, long, long, long, long, long, double, double, double, double, double, double, double,
                double, long, double, long);
double MPI_Exscan(int, ...);
int MPI_Comm_rank(void*, int*);
int MPI_Op_free(void*, int*);
extern __attribute__((weak)) int MPI_Session_init(void);
extern __attribute__((weak)) int MPI_Allreduce_c(void);

static const char* status(void) {
  const char* (*ask)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "hocket_status");
  return ask ? ask() : "absent";
}

static int registers(void) {
  const double first = MPI_Scan(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
  const double again = MPI_Scan(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
  printf("%.9f %.9f\n", first, again);
  return 0;
}

static int variadic(void) {
  printf("%g\n", MPI_Exscan(4, 1.0, 2.0, 4.0, 8.0));
  return 0;
}

static pthread_barrier_t start;
static void* race(void* result) {
  pthread_barrier_wait(&start);
  *(int*)result = MPI_Barrier(NULL);
  return NULL;
}

static int threads(void) {
  enum { count = 8 };
  pthread_t thread[count];
  int result[count];
  pthread_barrier_init(&start, NULL, count);
  for (int i = 0; i < count; ++i) pthread_create(&thread[i], NULL, race, &result[i]);
  for (int i = 0; i < count; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < count; ++i) printf("%d ", result[i] / 1000);
  printf("\n");
  return 0;
}

// The compiler may take a function's address for constant, so each look is a call of its own.
static __attribute__((noipa)) int has_sessions(void) {
  return MPI_Session_init != NULL;
}

static int weak(void) {
  const int before = has_sessions();
  MPI_Init(NULL, NULL);
  printf("%d %d %d %d %d\n", before, has_sessions(), dlsym(RTLD_DEFAULT, "MPI_Session_init") != NULL,
         dlsym(RTLD_DEFAULT, "PMPI_Session_init") != NULL, MPI_Allreduce_c ? MPI_Allreduce_c() : 0);
  return 0;
}

static int missing(void) {
  int (*volatile kept)(void) = MPI_Session_init;
  MPI_Init(NULL, NULL);
  return kept();
}

// Calls `run` of each library in turn, in this process: argv of the form lib.so (kept open) or -lib.so
// (closed again).
static int libraries(char** path) {
  for (; *path; ++path) {
    void* library = dlopen(**path == '-' ? *path + 1 : *path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*run)(void) = (int (*)(void))dlsym(library, "run");
    printf("%d:%p ", run() / 1000, (void*)run);
    if (**path == '-') dlclose(library);
  }
  printf("\n");
  return 0;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double nanoseconds_per_call(int (*call)(void*, int*)) {
  enum { calls = 2000000 };
  double best = 1e9;
  int rank;
  for (int batch = 0; batch < 15; ++batch) {
    const double begin = seconds();
    for (int i = 0; i < calls; ++i) call(NULL, &rank);
    const double each = (seconds() - begin) * 1e9 / calls;
    if (each < best) best = each;
  }
  return best;
}

static int (*caller_is_mpi)(const void*);
static const void* asked_about;
static int ask(void* comm, int* rank) {
  (void)comm, (void)rank;
  return caller_is_mpi(asked_about);
}

// argv: libraries loaded after the start, whose ranges cannot be remembered.
static int cost(char** later) {
  MPI_Init(NULL, NULL);
  printf("direct %.2f, through stage 0 %.2f", nanoseconds_per_call(MPI_Comm_rank),
         nanoseconds_per_call(MPI_Op_free));
  *(void**)&caller_is_mpi = dlsym(RTLD_DEFAULT, "hocket_caller_is_mpi");
  if (caller_is_mpi) {
    asked_about = (const void*)cost;
    printf(", caller check: program %.2f", nanoseconds_per_call(ask));
    asked_about = dlsym(dlopen("libmpi.so.40", RTLD_NOLOAD | RTLD_NOW), "PMPI_Barrier");
    printf(", MPI library %.2f", nanoseconds_per_call(ask));
    for (; *later; ++later) {
      asked_about = dlsym(dlopen(*later, RTLD_NOW), "run");
      printf(", loaded later %.2f", nanoseconds_per_call(ask));
    }
  }
  printf(" ns\n");
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "status";
  if (!strcmp(what, "registers")) return registers();
  if (!strcmp(what, "variadic")) return variadic();
  if (!strcmp(what, "threads")) return threads();
  if (!strcmp(what, "weak")) return weak();
  if (!strcmp(what, "missing")) return missing();
  if (!strcmp(what, "libraries")) return libraries(argv + 2);
  if (!strcmp(what, "cost")) return cost(argv + 2);
  if (!strcmp(what, "barrier")) {
    const int mine = MPI_Barrier(NULL), profiling = PMPI_Barrier(NULL), inside = MPI_Cart_create();
    printf("%d %d %d\n", mine, profiling, inside);
    return 0;
  }
  if (!strcmp(what, "idle")) return puts(status()) < 0;
  if (MPI_Init(NULL, NULL) != 0) return 1;
  puts(status());
  return 0;
}
