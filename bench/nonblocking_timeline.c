// Who waits for whom, operation by operation: one rank comes late, or all are away now and then, and every
// rank writes down what it did when. First with the blocking call, then with the non-blocking one around the
// same computation.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonblocking.h"
#include "statistics.h"

enum kind { kind_late, kind_call, kind_start, kind_compute, kind_detour, kind_test, kind_wait };
static const char* const kind_names[] = {"late", "call", "start", "compute", "detour", "test", "wait"};
enum { warm_up_calls = 15 };
static const double default_compute = 1e-3;

struct span {
  double begin, end;
  double operation, kind;  // whole numbers: the MPI gathers spans as doubles
};
enum { numbers_per_span = 4 };

// What this rank has done.
struct diary {
  struct span* spans;
  int count, capacity;
};

static void grow(struct diary* diary, int capacity) {
  struct span* larger = memory((size_t)capacity * sizeof *larger);
  if (diary->count > 0) memcpy(larger, diary->spans, (size_t)diary->count * sizeof *larger);
  free(diary->spans);
  diary->spans = larger;
  diary->capacity = capacity;
}

// One rank's run through the operations.
struct run {
  const struct nonblocking_options* options;
  struct operation operation;
  struct diary diary;
  double compute;
  double next_detour;
  int number;  // of the operation
};

static double note(struct run* run, enum kind kind, double begin) {
  struct diary* diary = &run->diary;
  const double end = now();
  if (diary->count == diary->capacity) grow(diary, 2 * diary->capacity);
  diary->spans[diary->count++] = (struct span){begin, end, run->number, kind};
  return end;
}

// A number from a seed and a place, the same on every machine (splitmix64).
static uint64_t drawn(uint64_t seed, uint64_t place) {
  uint64_t x = (seed << 32) + (place + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static bool is_late(const struct run* run) {
  const struct nonblocking_options* o = run->options;
  if (o->late == 0) return false;
  const int ranks = run->operation.cell->ranks;
  const int late =
      o->late_rank >= 0 ? o->late_rank : (int)(drawn(o->seed, (uint64_t)run->number) % (uint64_t)ranks);
  return run->operation.cell->rank == late;
}

// Detours come at regular intervals, each rank's from a moment of its own.
static void first_detour(struct run* run) {
  const struct nonblocking_options* o = run->options;
  const double share = (double)(drawn(o->seed + 1, (uint64_t)run->operation.cell->rank) >> 11) * 0x1p-53;
  run->next_detour = o->detour > 0 ? now() + share * o->detour_interval : 1e300;
}

static double take_detour(struct run* run, double begin) {
  compute_until(begin + run->options->detour);
  return note(run, kind_detour, begin);
}

// One that would have come while the rank waited, or was off its core, costs nothing.
static bool detour_comes(struct run* run, double begin, double end) {
  while (run->next_detour < begin) run->next_detour += run->options->detour_interval;
  return run->next_detour < end;
}

// A detour adds to the computation.
static double compute(struct run* run, double seconds, double begin) {
  while (detour_comes(run, begin, begin + seconds)) {
    seconds -= run->next_detour - begin;
    compute_until(run->next_detour);
    begin = take_detour(run, note(run, kind_compute, begin));
  }
  compute_until(begin + seconds);
  return note(run, kind_compute, begin);
}

static double compute_and_test(struct run* run, double begin) {
  const int tests = run->options->tests[run->options->test_count - 1];
  const int parts = tests > 0 ? tests : 1;
  bool complete = tests == 0;
  for (int part = 0; part < parts; ++part) {
    begin = compute(run, run->compute / parts, begin);
    if (complete) continue;
    complete = operation_test(&run->operation);
    begin = note(run, kind_test, begin);
  }
  return begin;
}

static void blocking(struct run* run, double begin) {
  operation_start(&run->operation);
  compute(run, run->compute, note(run, kind_call, begin));
}

static void nonblocking(struct run* run, double begin) {
  operation_start(&run->operation);
  begin = compute_and_test(run, note(run, kind_start, begin));
  operation_wait(&run->operation);
  note(run, kind_wait, begin);
}

static void one_operation(struct run* run) {
  double begin = now();
  if (is_late(run)) {
    compute_until(begin + run->options->late);
    begin = note(run, kind_late, begin);
  }
  if (run->operation.form == form_blocking)
    blocking(run, begin);
  else
    nonblocking(run, begin);
}

// A late rank's effect is seen operation by operation, so all start each together. Noise adds up over
// operations, so nobody holds them.
static void all_operations(struct run* run) {
  const bool together = run->options->late > 0 || run->options->detour == 0;
  for (run->number = 0; run->number < run->options->operations; ++run->number) {
    if (together) referee_start();
    one_operation(run);
  }
}

static void prepare(struct operation* operation) {
  for (int i = 0; i < warm_up_calls; ++i) {
    operation_start(operation);
    operation_wait(operation);
  }
}

// When the ranks began: rank 0's moment for all if they have one clock.
static double beginning(void) {
  referee_start();
  double time = now();
  if (referee_has_one_clock()) MPI_Bcast(&time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return time;
}

static void print_spans(FILE* out, const struct run* run, const char* side, int rank,
                        const struct span* spans, int count) {
  const struct cell* cell = run->operation.cell;
  for (int i = 0; i < count; ++i) {
    const struct span* s = &spans[i];
    fprintf(out, "{\"collective\": \"%s\", \"bytes\": %zu, \"side\": \"%s\", \"form\": \"%s\", ",
            cell->collective->name, cell->bytes, side,
            run->operation.form == form_blocking ? "blocking" : "nonblocking");
    fprintf(out, "\"rank\": %d, \"operation\": %d, \"kind\": \"%s\", \"begin_us\": %.3f, \"end_us\": %.3f}\n",
            rank, (int)s->operation, kind_names[(int)s->kind], 1e6 * s->begin, 1e6 * s->end);
  }
}

static struct span* received(int rank, int* count) {
  MPI_Status status;
  MPI_Probe(rank, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, count);
  struct span* spans = memory((size_t)*count * sizeof(double));
  MPI_Recv(spans, *count, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *count /= numbers_per_span;
  return spans;
}

static void hand_over(FILE* out, const struct run* run, const char* side) {
  const struct diary* diary = &run->diary;
  if (run->operation.cell->rank != 0) {
    MPI_Send(diary->spans, diary->count * numbers_per_span, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    return;
  }
  print_spans(out, run, side, 0, diary->spans, diary->count);
  for (int rank = 1; rank < run->operation.cell->ranks; ++rank) {
    int count = 0;
    struct span* spans = received(rank, &count);
    print_spans(out, run, side, rank, spans, count);
    free(spans);
  }
  fflush(out);
}

static void count_from(struct diary* diary, double time) {
  for (int i = 0; i < diary->count; ++i) {
    diary->spans[i].begin -= time;
    diary->spans[i].end -= time;
  }
}

static double compute_seconds(const struct nonblocking_options* options) {
  if (options->compute > 0) return options->compute;
  return options->late > 0 ? options->late : default_compute;
}

static void run_form(const struct nonblocking_options* options, struct cell* cell, bool with_hocket,
                     enum form form, FILE* out) {
  enum { spans_at_first = 1 << 14 };
  struct run run = {
      .options = options, .operation = {.cell = cell, .form = form}, .compute = compute_seconds(options)};
  grow(&run.diary, spans_at_first);
  hocket_switch(with_hocket);
  operation_open(&run.operation);
  prepare(&run.operation);
  hocket_switch(false);
  const double time = beginning();
  hocket_switch(with_hocket);
  first_detour(&run);
  all_operations(&run);
  operation_close(&run.operation);
  hocket_switch(false);
  count_from(&run.diary, time);
  hand_over(out, &run, side_name(options, with_hocket));
  free(run.diary.spans);
}

void record_timeline(const struct nonblocking_options* options, struct cell* cell, FILE* out) {
  const int sides = options->bench.untouched ? 1 : side_count;
  cell_fill(cell, 1);
  for (int side = 0; side < sides; ++side) {
    run_form(options, cell, side == side_hocket, form_blocking, out);
    run_form(options, cell, side == side_hocket, form_nonblocking, out);
  }
}
