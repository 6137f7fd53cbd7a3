// The main of the benchmark of non-blocking collectives: every cell in turn; rank 0 appends JSON lines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonblocking.h"

// The pages are touched now, not in the middle of an operation (with a number that no compiler takes for
// calloc).
void* memory(size_t bytes) {
  void* found = malloc(bytes + 1);
  if (!found) {
    fprintf(stderr, "hocket_nonblocking: no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
  }
  return memset(found, 0x5a, bytes + 1);
}

const char* side_name(const struct nonblocking_options* options, bool with_hocket) {
  if (options->bench.untouched) return "untouched";
  return with_hocket ? "hocket" : "native";
}

static bool run_cell(FILE* out, const struct nonblocking_options* options,
                     const struct collective* collective, size_t bytes) {
  struct cell cell;
  if (!cell_open(&cell, &options->bench, collective, bytes)) {
    fprintf(stderr, "hocket_nonblocking: no memory for %s of %zu bytes\n", collective->name, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bool valid = true;
  if (options->timeline)
    record_timeline(options, &cell, out);
  else
    valid = measure_nonblocking(options, &cell, out);
  cell_close(&cell);
  return valid;
}

static bool run_collective(FILE* out, const struct nonblocking_options* options, const char* name) {
  const struct collective* collective = find_collective(name);
  if (strcmp(name, "barrier") == 0) return run_cell(out, options, collective, 0);
  bool valid = true;
  for (int i = 0; i < options->bench.size_count; ++i)
    valid = run_cell(out, options, collective, options->bench.sizes[i]) && valid;
  return valid;
}

static int run(const struct nonblocking_options* options) {
  FILE* out = open_output(&options->bench);
  bool valid = true;
  hocket_switch(false);
  referee_open();
  for (int i = 0; i < options->bench.collective_count; ++i)
    valid = run_collective(out, options, options->bench.collectives[i]) && valid;
  referee_close();
  if (out && !valid) fprintf(stderr, "hocket_nonblocking: wrong results, see \"valid\"\n");
  if (out && options->bench.out) fclose(out);
  return valid ? 0 : 3;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct nonblocking_options options;
  parse_nonblocking_options(argc, argv, &options);
  const int status = sides_exist("hocket_nonblocking", &options.bench) ? run(&options) : 1;
  MPI_Finalize();
  return status;
}
