// What it costs to hand an operation to the node's worker whose buffers the worker knows, and one with
// buffers that it has to be told of first. One JSON line; docs/benchmark.md defines the numbers. An
// MPI_Ialltoall is started and waited for, with the same buffers each time and, in turns, with buffers a
// little further on in the same memory, so that caches and pages are not what differs; and a persistent one,
// which has nothing to look up. A start counts as what the rank's thread runs for: it wakes the worker, which
// runs at once where both share a core.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocket_bench.h"
#include "statistics.h"

enum { most_calls = 4096, step = 64, not_counted = 8 };

struct options {
  int bytes, calls;
};

// Microseconds of the slowest rank.
struct series {
  const char* name;
  double start[most_calls], total[most_calls];
};

static void refuse(const char* what, const char* value) {
  fprintf(stderr, "hocket_handover: %s '%s'\nusage: hocket_handover [--bytes N] [--calls N]\n", what, value);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static int positive(const char* name, const char* text, int most) {
  char* end = NULL;
  const long number = strtol(text, &end, 10);
  if (end == text || *end || number < 1 || number > most) refuse(name, text);
  return (int)number;
}

static struct options parse(int argc, char** argv) {
  struct options found = {.bytes = 1024, .calls = 500};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) refuse("no value for", argv[i]);
    if (strcmp(argv[i], "--bytes") == 0)
      found.bytes = positive(argv[i], argv[i + 1], 1 << 24);
    else if (strcmp(argv[i], "--calls") == 0)
      found.calls = positive(argv[i], argv[i + 1], most_calls);
    else
      refuse("no such option:", argv[i]);
  }
  return found;
}

struct buffers {
  char *input, *output;
};

typedef int make_function(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                          MPI_Request*);

// Open MPI 4.1 has it under another name, and older MPIs not at all.
static make_function* persistent(void) {
  make_function* found;
  *(void**)&found = dlsym(RTLD_DEFAULT, "MPI_Alltoall_init");
  if (!found) *(void**)&found = dlsym(RTLD_DEFAULT, "MPIX_Alltoall_init");
  if (!found) refuse("this MPI has no", "MPI_Alltoall_init");
  return found;
}

static void start(const struct options* options, struct buffers buffers, MPI_Request* request) {
  if (*request != MPI_REQUEST_NULL)
    MPI_Start(request);
  else
    MPI_Ialltoall(buffers.input, options->bytes, MPI_BYTE, buffers.output, options->bytes, MPI_BYTE,
                  MPI_COMM_WORLD, request);
}

// `request`: a persistent one, or none.
static void call(const struct options* options, struct buffers buffers, MPI_Request request,
                 struct series* times, int at) {
  referee_start();
  const double begin = now(), cpu_begin = cpu_now();
  start(options, buffers, &request);
  const double cpu_started = cpu_now();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double ended = now();
  const double start_seconds = referee_slowest(cpu_started - cpu_begin);
  const double seconds = referee_slowest(ended - begin);
  if (at < 0) return;
  times->start[at] = 1e6 * start_seconds;
  times->total[at] = 1e6 * seconds;
}

static double median(double* numbers, int count) {
  sort_numbers(numbers, count);
  return quantile(numbers, count, 0.5);
}

static void print(struct series* times, const struct options* options) {
  printf(", \"%s_start_us\": %.4f, \"%s_us\": %.4f", times->name, median(times->start, options->calls),
         times->name, median(times->total, options->calls));
}

static char* buffer(size_t bytes) {
  char* found = malloc(bytes);
  if (!found) refuse("no memory for", "the buffers");
  return memset(found, 0x5a, bytes);
}

static void take_turns(const struct options* options, int ranks, struct series* known, struct series* fresh,
                       struct series* prepared) {
  const size_t steps = (size_t)(options->calls + not_counted + 1) * step;
  const size_t bytes = (size_t)options->bytes * (size_t)ranks + steps;
  const struct buffers here = {buffer(bytes), buffer(bytes)};
  MPI_Request request = MPI_REQUEST_NULL;
  persistent()(here.input, options->bytes, MPI_BYTE, here.output, options->bytes, MPI_BYTE, MPI_COMM_WORLD,
               MPI_INFO_NULL, &request);
  for (int i = -not_counted; i < options->calls; ++i) {
    const size_t on = (size_t)(i + not_counted + 1) * step;
    call(options, here, MPI_REQUEST_NULL, known, i);
    call(options, (struct buffers){here.input + on, here.output + on}, MPI_REQUEST_NULL, fresh, i);
    call(options, here, request, prepared, i);
  }
  MPI_Request_free(&request);
  free(here.input);
  free(here.output);
}

int main(int argc, char** argv) {
  static struct series known = {.name = "known"}, fresh = {.name = "new"}, prepared = {.name = "persistent"};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct options options = parse(argc, argv);
  referee_open();
  take_turns(&options, ranks, &known, &fresh, &prepared);
  referee_close();
  if (rank == 0) {
    printf("{\"ranks\": %d, \"bytes\": %d, \"calls\": %d, \"start_clock\": \"core\"", ranks, options.bytes,
           options.calls);
    print(&known, &options);
    print(&fresh, &options);
    print(&prepared, &options);
    printf("}\n");
  }
  MPI_Finalize();
  return 0;
}
