#include "statistics.h"

#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double now(void) {
  return read_clock(CLOCK_MONOTONIC);
}

double cpu_now(void) {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

void sort_numbers(double* numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, ascending);
}

double quantile(const double* sorted, int count, double q) {
  const double place = q * (count - 1);
  const int low = (int)place;
  const int high = low + 1 < count ? low + 1 : low;
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}
