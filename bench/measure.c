// Timing: back-to-back calls in batches; the slowest rank's time of a batch counts; both sides take turns A B
// B A. What decides how many calls are made is agreed on by all ranks (referee.c), or they would wait for
// ever.
#include "hocket_bench.h"
#include "statistics.h"

enum { least_batches = 5, most_batches = 400, most_per_turn = 16 };
enum { validations = 3, calibrations = 4 };
enum { most_warm_up = 63, least_warm_up_hocket = 15, least_warm_up_very_slow = 3 };
enum { least_batches_very_slow = 3 };
static const double batch_seconds = 200e-6;
static const double slow_call = 10e-3;
static const double very_slow_call = 1;  // MPICH's reduce of 2 MiB takes four, with 8 ranks on 2 cores

// How one side is measured, and its batches: the slowest rank's seconds.
struct side {
  bool with_hocket;
  bool slow;  // one call is a batch, and none goes before it: caches make no difference to it
  long k;
  double seconds;  // of a batch, about
  int per_turn;
  int batches;
  double times[most_batches];
};

static double timed_calls(struct cell* cell, bool with_hocket, long k) {
  static unsigned iteration;
  hocket_switch(with_hocket);
  const double start = now();
  for (long i = 0; i < k; ++i) {
    cell_touch(cell, ++iteration);
    cell->collective->call(cell);
  }
  const double seconds = now() - start;
  hocket_switch(false);
  return seconds;
}

// Seconds of the slowest rank in k calls. One call goes before them uncounted, so that neither side is
// charged for the state in which the other has left the caches.
static double batch(struct cell* cell, const struct side* side, long k) {
  if (!side->slow) timed_calls(cell, side->with_hocket, 1);
  referee_start();
  return referee_slowest(timed_calls(cell, side->with_hocket, k));
}

// Calls, by what the last one took.
static int least_warm_up(bool with_hocket, double last) {
  if (last >= very_slow_call) return with_hocket ? least_warm_up_very_slow : 0;
  return with_hocket ? least_warm_up_hocket : 1;
}

// In steps of 1, 2, 4, ... calls.
double warm_up(struct cell* cell, bool with_hocket, double seconds, double known) {
  double spent = known, last = known;
  int calls = 0;
  for (int step = 1;
       calls < least_warm_up(with_hocket, last) || (calls < most_warm_up && spent < seconds / 4); step *= 2) {
    last = referee_slowest(timed_calls(cell, with_hocket, step));
    spent += last;
    calls += step;
    last /= step;
  }
  return last;
}

// The least of a few: one disturbed batch must not decide how all others are taken.
static double undisturbed(struct cell* cell, const struct side* side, long k) {
  double least = batch(cell, side, k);
  for (int i = 1; i < calibrations && least >= batch_seconds; ++i) {
    const double again = batch(cell, side, k);
    if (again < least) least = again;
  }
  return least;
}

// How many calls make a batch of batch_seconds, and how long such a batch lasts.
static void calibrate(struct cell* cell, struct side* side, double call_seconds) {
  side->k = 1;
  side->seconds = call_seconds;
  side->slow = call_seconds >= slow_call;
  if (side->slow) return;
  while ((side->seconds = undisturbed(cell, side, side->k)) < batch_seconds && side->k < 1 << 16)
    side->k *= 2;
}

// The quicker side takes several batches in its turn, so that both get about the same time.
static void share_time(struct side* sides, int count) {
  double longest = 0;
  for (int i = 0; i < count; ++i)
    if (sides[i].seconds > longest) longest = sides[i].seconds;
  for (int i = 0; i < count; ++i) {
    const double fit = longest / sides[i].seconds;
    sides[i].per_turn = fit > most_per_turn ? most_per_turn : (int)fit;
  }
}

static void take_turn(struct cell* cell, struct side* side) {
  for (int i = 0; i < side->per_turn && side->batches < most_batches; ++i)
    side->times[side->batches++] = batch(cell, side, side->k);
}

static int least_batches_of(const struct side* side) {
  return side->seconds < very_slow_call ? least_batches : least_batches_very_slow;
}

static bool wants_more(const struct side* sides, int count, double time_left) {
  bool room = true;
  for (int i = 0; i < count; ++i) {
    if (sides[i].batches < least_batches_of(&sides[i])) return true;
    room = room && sides[i].batches < most_batches;
  }
  return room && time_left > 0;
}

static void summarise(struct side* side, struct summary* result) {
  sort_numbers(side->times, side->batches);
  const double scale = 1e6 / (double)side->k;
  result->median_us = quantile(side->times, side->batches, 0.5) * scale;
  result->p10_us = quantile(side->times, side->batches, 0.1) * scale;
  result->p90_us = quantile(side->times, side->batches, 0.9) * scale;
  result->batches = side->batches;
  result->k = side->k;
}

// Three calls without a pause, so that one which runs into the next is found; the MPI alone is asked once
// where it is slow. `first` is what its first call took, for Hocket 0: its first one sets up.
bool validate(struct cell* cell, bool with_hocket, double* first) {
  static unsigned iteration = 0;
  bool good = true;
  *first = 0;
  for (int i = 0; i < validations && *first < slow_call; ++i) {
    cell_fill(cell, ++iteration);
    hocket_switch(with_hocket);
    const double start = now();
    cell->collective->call(cell);
    const double seconds = now() - start;
    hocket_switch(false);
    good = cell_valid(cell, iteration) && good;
    if (i == 0 && !with_hocket) *first = referee_slowest(seconds);
  }
  return referee_slowest(good ? 0 : 1) == 0;
}

static void prepare(struct cell* cell, struct side* side, double seconds, struct summary* result) {
  double first = 0;
  result->valid = validate(cell, side->with_hocket, &first);
  calibrate(cell, side, warm_up(cell, side->with_hocket, seconds, first));
}

static void finish(struct cell* cell, struct side* side, struct summary* result) {
  double first = 0;
  summarise(side, result);
  result->valid = validate(cell, side->with_hocket, &first) && result->valid;
}

void measure(struct cell* cell, const struct bench_options* options, struct summary result[side_count]) {
  const int count = options->untouched ? 1 : 2;
  struct side sides[side_count] = {{.with_hocket = false}, {.with_hocket = true}};
  for (int i = 0; i < count; ++i) prepare(cell, &sides[i], options->seconds, &result[i]);
  share_time(sides, count);
  const double end = now() + options->seconds * count;
  for (int round = 0; referee_decides(wants_more(sides, count, end - now())); ++round)
    for (int turn = 0; turn < count; ++turn)
      take_turn(cell, &sides[round % 2 == 0 ? turn : count - 1 - turn]);
  for (int i = 0; i < count; ++i) finish(cell, &sides[i], &result[i]);
}
