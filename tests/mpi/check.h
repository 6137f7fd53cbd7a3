// A small harness for launched test programs: checks count failures, the first ones are printed, the worst
// rank decides. Under hocket-exec, Hocket must have run collectives (attached.h).
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attached.h"

static int check_rank = -1;
static long check_failures;
static long check_count;
static char check_context[256];

static inline void context(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(check_context, sizeof check_context, format, arguments);
  va_end(arguments);
}

static inline void check_at(int holds, const char* what, const char* file, int line) {
  ++check_count;
  if (holds || ++check_failures > 10) return;
  fprintf(stderr, "%s:%d: rank %d: %s [%s]\n", file, line, check_rank, what, check_context);
}
#define CHECK(condition) check_at((condition) != 0, #condition, __FILE__, __LINE__)

static inline void check_start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
}

// What random calls are drawn from, the same on all ranks: argument 1, or a new one every time.
static inline unsigned long long check_seed(int argc, char** argv) {
  unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (unsigned long long)time(NULL);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  if (check_rank == 0) printf("seed %llu\n", seed);
  return seed;
}

static inline void check_hocket(int ranks) {
  const char* shortfall = hocket_shortfall(ranks);
  context("%s", shortfall ? shortfall : "");
  CHECK(shortfall == NULL);
}

// A collective by its name in the report.
static inline void check_hocket_ran(const char* collective) {
  context("%s by Hocket", collective);
  CHECK(!hocket_is_required() || hocket_has_run(collective));
}

struct check_case {
  const char* name;
  void (*run)(void);
};

// All of them, or only the one that argument 1 names.
static inline void check_cases(int argc, char** argv, const struct check_case* cases, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
    context("%s", cases[i].name);
    if (i > 0) MPI_Barrier(MPI_COMM_WORLD);
    cases[i].run();
  }
}

// Sum of failures by the MPI's own point-to-point: the collectives are what is being tested.
static inline int check_finish(const char* name) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_hocket(size);
  long all = check_failures, theirs = 0;
  if (check_rank == 0) {
    for (int r = 1; r < size; ++r, all += theirs)
      MPI_Recv(&theirs, 1, MPI_LONG, r, 9999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%s: %ld checks on rank 0, %ld failures on %d ranks\n", name, check_count, all, size);
    for (int r = 1; r < size; ++r) MPI_Send(&all, 1, MPI_LONG, r, 9999, MPI_COMM_WORLD);
  } else {
    MPI_Send(&all, 1, MPI_LONG, 0, 9999, MPI_COMM_WORLD);
    MPI_Recv(&all, 1, MPI_LONG, 0, 9999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return all != 0;
}
