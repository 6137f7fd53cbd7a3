// What a rank does while an operation is under way: arithmetic in registers, so that it competes with nothing
// but for the core itself.
#include "nonblocking.h"
#include "statistics.h"

enum { steps_per_unit = 64, calibrations = 5 };

// A chain in which every step needs the one before: its time does not depend on how wide the core is.
static volatile double outcome;

void compute_work(long units) {
  double x = outcome;
  for (long i = 0; i < units * steps_per_unit; ++i) x = x * 0.9999 + 1e-3;
  outcome = x;
}

void compute_until(double time) {
  while (now() < time) compute_work(1);
}

// The quickest of a few: the one that nobody disturbed.
static double seconds_of(long units) {
  double least = 1e9;
  for (int i = 0; i < calibrations; ++i) {
    const double start = now();
    compute_work(units);
    const double seconds = now() - start;
    if (seconds < least) least = seconds;
  }
  return least;
}

long units_in(double seconds) {
  static double unit;
  enum { sample = 2000 };
  if (unit == 0) unit = seconds_of(sample) / sample;
  return (long)(seconds / unit + 0.5);
}
