// Timing: back-to-back calls in batches; the slowest rank's time of a batch counts; both sides take turns A B
// B A.
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "hocket_bench.h"

enum { least_batches = 5, most_batches = 400, validations = 3, calibrations = 4 };
static const double batch_seconds = 200e-6;

typedef int (*control_function)(const char*);

static control_function control(void) {
  static control_function found;
  static bool looked;
  if (!looked) {
    *(void**)&found = dlsym(RTLD_DEFAULT, "hocket_control");
    looked = true;
  }
  return found;
}

bool hocket_loaded(void) {
  return control() != NULL;
}

bool hocket_attached(void) {
  return control() && control()("on") >= 0;
}

void hocket_switch(bool on) {
  if (control()) control()(on ? "on" : "off");
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds that this rank spends in k calls. One call goes before them uncounted, so that neither side is
// charged for the state in which the other has left the caches. The barrier is always the MPI's own.
static double batch(struct Cell* cell, bool with_hocket, long k, unsigned* iteration) {
  void (*const call)(const struct Cell*) = cell->collective->call;
  hocket_switch(with_hocket);
  call(cell);
  hocket_switch(false);
  MPI_Barrier(MPI_COMM_WORLD);
  hocket_switch(with_hocket);
  const double start = now();
  for (long i = 0; i < k; ++i) {
    cell_touch(cell, ++*iteration);
    call(cell);
  }
  const double end = now();
  hocket_switch(false);
  return end - start;
}

static double slowest(double seconds) {
  double result = 0;
  MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

// The least of a few: one disturbed batch must not decide how all others are taken.
static double undisturbed(struct Cell* cell, bool with_hocket, long k, unsigned* iteration) {
  double least = slowest(batch(cell, with_hocket, k, iteration));
  for (int i = 1; i < calibrations && least >= batch_seconds && (i == 1 || least < 100 * batch_seconds);
       ++i) {
    const double again = slowest(batch(cell, with_hocket, k, iteration));
    if (again < least) least = again;
  }
  return least;
}

// How many calls make a batch of batch_seconds, and how long such a batch lasts.
static long calibrate(struct Cell* cell, bool with_hocket, unsigned* iteration, double* seconds) {
  batch(cell, with_hocket, 1, iteration);  // first use: set-up is not what is measured
  for (long k = 1;; k *= 2) {
    *seconds = undisturbed(cell, with_hocket, k, iteration);
    if (*seconds >= batch_seconds || k >= 1 << 16) return k;
  }
}

static int batches_for(double budget, double batch_time) {
  const double fit = budget / batch_time;
  if (fit < least_batches) return least_batches;
  return fit > most_batches ? most_batches : (int)fit;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double quantile(const double* sorted, int n, double q) {
  const double place = q * (n - 1);
  const int low = (int)place;
  const int high = low + 1 < n ? low + 1 : low;
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

static void summarise(double* mine, int n, long k, struct Summary* result) {
  double all[most_batches];
  MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  qsort(all, (size_t)n, sizeof *all, ascending);
  const double scale = 1e6 / (double)k;
  result->median_us = quantile(all, n, 0.5) * scale;
  result->p10_us = quantile(all, n, 0.1) * scale;
  result->p90_us = quantile(all, n, 0.9) * scale;
  result->batches = n;
  result->k = k;
}

bool validate(struct Cell* cell, bool with_hocket) {
  static unsigned iteration = 0;
  int good = 1;
  for (int i = 0; i < validations; ++i) {
    cell_fill(cell, ++iteration);
    hocket_switch(with_hocket);
    cell->collective->call(cell);
    hocket_switch(false);
    good = good && cell_valid(cell, iteration);
  }
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

void measure(struct Cell* cell, const struct BenchOptions* options, struct Summary result[side_count]) {
  const int sides = options->untouched ? 1 : 2;
  double times[side_count][most_batches];
  long k[side_count] = {1, 1};
  int batches = most_batches;
  unsigned iteration = 0;
  for (int side = 0; side < sides; ++side) {
    result[side].valid = validate(cell, side == side_hocket);
    double seconds = 0;
    k[side] = calibrate(cell, side == side_hocket, &iteration, &seconds);
    const int fit = batches_for(options->seconds, seconds);
    if (fit < batches) batches = fit;
  }
  for (int b = 0; b < batches; ++b) {
    for (int turn = 0; turn < sides; ++turn) {
      const int side = b % 2 == 0 ? turn : sides - 1 - turn;
      times[side][b] = batch(cell, side == side_hocket, k[side], &iteration);
    }
  }
  for (int side = 0; side < sides; ++side) {
    summarise(times[side], batches, k[side], &result[side]);
    result[side].valid = validate(cell, side == side_hocket) && result[side].valid;
  }
}
