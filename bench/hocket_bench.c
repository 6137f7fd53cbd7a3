// The benchmark's main: every cell in turn; rank 0 appends one JSON line per cell and side.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocket_bench.h"

static int my_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// The first line of what the MPI says of itself, made safe for a JSON string.
static void library_version(char* line, size_t size) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  size_t n = 0;
  for (; n + 1 < size && text[n] && text[n] != '\n'; ++n) {
    const char c = text[n];
    line[n] = c == '"' || c == '\\' || (unsigned char)c < ' ' ? ' ' : c;
  }
  line[n] = '\0';
}

static void print_record(FILE* out, const struct cell* cell, const char* side, const struct summary* s,
                         const struct bench_options* options) {
  char library[160];
  library_version(library, sizeof library);
  fprintf(out,
          "{\"library\": \"%s\", \"ranks\": %d, \"collective\": \"%s\", \"bytes\": %zu, \"type\": \"%s\", ",
          library, cell->ranks, cell->collective->name, cell->bytes, options->type);
  fprintf(out, "\"root\": %d, \"side\": \"%s\", \"median_us\": %.4f, \"p10_us\": %.4f, \"p90_us\": %.4f, ",
          cell->root, side, s->median_us, s->p10_us, s->p90_us);
  fprintf(out, "\"batches\": %d, \"k\": %ld, \"valid\": %s}\n", s->batches, s->k,
          s->valid ? "true" : "false");
  fflush(out);
}

static bool run_cell(FILE* out, const struct bench_options* options, const struct collective* collective,
                     size_t bytes) {
  struct cell cell;
  if (!cell_open(&cell, options, collective, bytes)) {
    fprintf(stderr, "hocket_bench: no memory for %s of %zu bytes\n", collective->name, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  struct summary result[side_count];
  memset(result, 0, sizeof result);
  const bool native_only = options->untouched;
  if (options->validate_only) {
    double first = 0;
    result[side_hocket].valid = validate(&cell, true, &first);
    warm_up(&cell, true, options->seconds, first);
  } else {
    measure(&cell, options, result);
  }
  if (out && !options->validate_only)
    print_record(out, &cell, native_only ? "untouched" : "native", &result[side_native], options);
  if (out && !native_only && !options->validate_only)
    print_record(out, &cell, "hocket", &result[side_hocket], options);
  const bool valid =
      (options->validate_only || result[side_native].valid) && (native_only || result[side_hocket].valid);
  cell_close(&cell);
  return valid;
}

static bool run_collective(FILE* out, const struct bench_options* options, const char* name) {
  const struct collective* collective = find_collective(name);
  if (strcmp(name, "barrier") == 0) return run_cell(out, options, collective, 0);
  bool valid = true;
  for (int i = 0; i < options->size_count; ++i)
    valid = run_cell(out, options, collective, options->sizes[i]) && valid;
  return valid;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct bench_options options;
  parse_options(argc, argv, &options);
  int status = 1;
  if (sides_exist("hocket_bench", &options)) {
    FILE* out = open_output(&options);
    bool valid = true;
    hocket_switch(false);
    referee_open();
    for (int i = 0; i < options.collective_count; ++i)
      valid = run_collective(out, &options, options.collectives[i]) && valid;
    if (!valid && my_rank() == 0) fprintf(stderr, "hocket_bench: wrong results, see \"valid\"\n");
    status = valid ? 0 : 3;
    referee_close();
    if (out && options.out) fclose(out);
  }
  MPI_Finalize();
  return status;
}
