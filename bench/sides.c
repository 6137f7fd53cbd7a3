// What the benchmark programs do before they measure: see that both sides are there, and where records go.
#include <stdio.h>

#include "hocket_bench.h"

static int my_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Comparing a side with itself would look like a result: refuse.
static const char* missing_side(const struct bench_options* options) {
  if (options->untouched) return hocket_loaded() ? "--untouched, but Hocket is loaded" : NULL;
  if (!hocket_loaded()) return "Hocket is not loaded; start it with hocket-exec";
  return hocket_attached() ? NULL : "Hocket is loaded but not attached; HOCKET_VERBOSE=1 tells why";
}

bool sides_exist(const char* program, const struct bench_options* options) {
  const char* problem = missing_side(options);
  if (problem && my_rank() == 0) fprintf(stderr, "%s: %s\n", program, problem);
  return !problem;
}

FILE* open_output(const struct bench_options* options) {
  if (my_rank() != 0) return NULL;
  FILE* out = options->out ? fopen(options->out, "a") : stdout;
  if (!out) {
    perror(options->out);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return out;
}
