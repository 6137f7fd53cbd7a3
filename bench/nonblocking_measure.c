// One cell of the benchmark: every way to do the operation ("lane") takes its turn, forward and backward, so
// that drift of the machine meets all alike. The slowest rank's time of a turn counts, with its parts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonblocking_lanes.h"
#include "nonblocking_sockets.h"
#include "statistics.h"

enum { most_lanes = 96, least_rounds = 5, least_rounds_slow = 3 };
enum { warm_up_calls = 15, least_calls = 2, estimates = 25, most_per_turn = 1 << 12, most_apart = 64 };
static const double turn_seconds = 200e-6, longest_turn = 10e-3, slow_round = 1;
static const double read_cpu_from = 1e-3;

// Some MPIs have persistent collectives whose second start goes wrong: those are not started again.
static bool can_be_timed(const struct way* way) {
  return way->exists && way->valid;
}

// Adds the time since `*since` to a phase.
static void charge(struct times* t, enum phase phase, double* since) {
  const double time = now();
  t->seconds[phase] += time - *since;
  *since = time;
}

// One of `parts` equal parts of the lane's computation.
static void compute_part(const struct lane* lane, int part, int parts) {
  if (lane->loop == loop_time) compute_until(now() + lane->compute / parts);
  if (lane->loop == loop_work || lane->loop == loop_alone)
    compute_work(lane->units * (part + 1) / parts - lane->units * part / parts);
}

// To be called before and after each call of MPI.
static void charge_cpu(const struct lane* lane, struct times* t, double sign) {
  if (lane->reads_cpu) t->seconds[phase_core] += sign * cpu_now();
}

static void call_start(const struct lane* lane, struct times* t) {
  charge_cpu(lane, t, -1);
  operation_start(lane->operation);
  charge_cpu(lane, t, 1);
}

static bool call_test(const struct lane* lane, struct times* t) {
  charge_cpu(lane, t, -1);
  const bool complete = operation_test(lane->operation);
  charge_cpu(lane, t, 1);
  return complete;
}

static void call_wait(const struct lane* lane, struct times* t) {
  charge_cpu(lane, t, -1);
  operation_wait(lane->operation);
  charge_cpu(lane, t, 1);
}

// In as many parts as there are tests, one test after each; none once the operation is complete, but the
// clock is read all the same: what that costs must not depend on when an operation ends.
static void compute(const struct lane* lane, struct times* t, double* since) {
  const int parts = lane->tests > 0 ? lane->tests : 1;
  bool complete = lane->tests == 0 || lane->loop == loop_alone;
  for (int part = 0; part < parts; ++part) {
    compute_part(lane, part, parts);
    charge(t, phase_compute, since);
    if (!complete) complete = call_test(lane, t);
    charge(t, phase_test, since);
  }
}

static void step_by_step(const struct lane* lane, struct times* t) {
  double since = now();
  const double begin = since;
  if (lane->loop != loop_alone) call_start(lane, t);
  charge(t, phase_start, &since);
  if (lane->loop != loop_none) compute(lane, t, &since);
  if (lane->loop != loop_alone) call_wait(lane, t);
  charge(t, phase_wait, &since);
  t->seconds[phase_total] += since - begin;
}

static void touch(const struct lane* lane) {
  static unsigned iteration;
  cell_touch((struct cell*)lane->operation->cell, ++iteration);
}

static int by_total(const void* a, const void* b) {
  const double x = ((const struct times*)a)->seconds[phase_total];
  const double y = ((const struct times*)b)->seconds[phase_total];
  return (x > y) - (x < y);
}

// Who carries the operation out beside the rank.
static double helper_core_now(const struct lane* lane) {
  return lane->operation->form == form_sockets ? sockets_core_now() : worker_core_now();
}

// The turn's median operation: one that was disturbed must not hide the others. The worker ends its own after
// this rank has, so what it took is of all of them.
static void operations_apart(const struct lane* lane, struct times* median) {
  struct times each[most_apart];
  memset(each, 0, sizeof each);
  const double worker = lane->reads_cpu ? helper_core_now(lane) : 0;
  const double card = lane->reads_cpu ? card_core_now() : 0;
  const double end = now() + longest_turn;
  int count = 0;
  while (referee_decides(count == 0 || (count < lane->per_turn && now() < end))) {
    touch(lane);
    hocket_switch(lane->with_hocket);
    step_by_step(lane, &each[count++]);
    hocket_switch(false);
  }
  qsort(each, (size_t)count, sizeof *each, by_total);
  *median = each[count / 2];
  if (!lane->reads_cpu) return;
  median->seconds[phase_worker] = (helper_core_now(lane) - worker) / count;
  median->seconds[phase_card] = (card_core_now() - card) / count;
}

static double back_to_back(const struct lane* lane, int times) {
  hocket_switch(lane->with_hocket);
  const double start = now();
  for (int i = 0; i < times; ++i) {
    touch(lane);
    operation_start(lane->operation);
    operation_wait(lane->operation);
  }
  const double seconds = now() - start;
  hocket_switch(false);
  return seconds;
}

// The first call is not timed: neither side pays for the caches as the other left them.
static void take_turn(const struct lane* lane, struct times* t) {
  memset(t, 0, sizeof *t);
  if (lane->apart) {
    operations_apart(lane, t);
  } else {
    back_to_back(lane, 1);
    referee_start();
    t->seconds[phase_total] = back_to_back(lane, lane->per_turn) / lane->per_turn;
  }
}

static bool answers_right(struct way* way) {
  static unsigned iteration;
  struct cell* cell = (struct cell*)way->operation.cell;
  cell_fill(cell, ++iteration);
  hocket_switch(way->with_hocket);
  operation_start(&way->operation);
  operation_wait(&way->operation);
  hocket_switch(false);
  return referee_slowest(cell_valid(cell, iteration) ? 0 : 1) == 0;
}

// Right answers, and the warm-up; fewer calls where they take longer than that.
static void validate_way(struct way* way, int calls, double seconds) {
  const double end = now() + seconds;
  for (int i = 0; way->valid && referee_decides(i < least_calls || (i < calls && now() < end)); ++i)
    way->valid = answers_right(way);
}

// Neither a disturbed one nor a lucky one decides how much is computed: by TCP, messages both ways may take
// half as long as usual.
static void estimate(struct way* way, double seconds) {
  const struct lane lane = {
      .with_hocket = way->with_hocket, .operation = &way->operation, .apart = true, .per_turn = 1};
  const double end = now() + seconds;
  double each[estimates];
  int count = 0;
  while (referee_decides(count == 0 || (count < estimates && now() < end))) {
    struct times t;
    take_turn(&lane, &t);
    each[count++] = referee_slowest(t.seconds[phase_total]);
  }
  sort_numbers(each, count);
  way->estimate = quantile(each, count, 0.5);
}

static bool is_wanted(const struct nonblocking_options* options, enum form form, bool with_hocket) {
  return form != form_sockets || (options->sockets && !with_hocket);
}

static void open_way(struct way* way, const struct nonblocking_options* options, struct cell* cell,
                     enum form form, bool with_hocket) {
  const double seconds = options->bench.seconds;
  *way = (struct way){.operation = {.cell = cell, .form = form}, .with_hocket = with_hocket, .valid = true};
  way->exists = is_wanted(options, form, with_hocket) && form_exists(cell, form);
  if (!way->exists) return;
  hocket_switch(with_hocket);
  const double start = now();
  operation_open(&way->operation);
  way->make = now() - start;
  hocket_switch(false);
  way->make = referee_slowest(way->make);
  validate_way(way, warm_up_calls, seconds);
  if (way->valid) estimate(way, seconds);
}

static void close_way(struct way* way) {
  if (!way->exists) return;
  validate_way(way, least_calls, 0);
  hocket_switch(way->with_hocket);
  operation_close(&way->operation);
  hocket_switch(false);
}

// The same number on all ranks: `seconds` is.
static int turns_in(double seconds, int most) {
  int count = 1;
  while (count * seconds < turn_seconds && count < most) count *= 2;
  return count;
}

static struct lane lane_of(struct way* way, bool apart) {
  return (struct lane){.with_hocket = way->with_hocket,
                       .operation = &way->operation,
                       .apart = apart,
                       .reads_cpu = apart && way->estimate >= read_cpu_from,
                       .per_turn = turns_in(way->estimate, apart ? most_apart : most_per_turn)};
}

static struct lane computing(struct way* way, enum loop loop, int tests, double seconds) {
  struct lane lane = lane_of(way, true);
  lane.loop = loop;
  lane.tests = tests;
  lane.compute = seconds;
  lane.units = units_in(seconds);
  lane.per_turn = turns_in(way->estimate + seconds, most_apart);
  return lane;
}

// How much is computed beside an operation of this side.
static double computation(const struct nonblocking_options* options, struct way ways[side_count][form_count],
                          int side) {
  const int as_long_as = options->compute_native && !options->bench.untouched ? side_native : side;
  return options->compute > 0 ? options->compute : ways[as_long_as][form_nonblocking].estimate;
}

// With all loops and numbers of tests.
static int add_computing(const struct nonblocking_options* options, struct way* way, double seconds,
                         struct lane* lanes) {
  int count = 0;
  for (int i = 0; can_be_timed(way) && i < options->test_count; ++i) {
    lanes[count++] = computing(way, loop_alone, options->tests[i], seconds);
    lanes[count++] = computing(way, loop_time, options->tests[i], seconds);
    lanes[count++] = computing(way, loop_work, options->tests[i], seconds);
  }
  return count;
}

// The lanes of one side: each form by itself, and what is overlapped.
static int add_lanes(const struct nonblocking_options* options, struct way* ways, double seconds,
                     struct lane* lanes) {
  int count = 0;
  for (int form = 0; form < form_count; ++form) {
    if (!can_be_timed(&ways[form])) continue;
    lanes[count++] = lane_of(&ways[form], false);
    lanes[count++] = lane_of(&ways[form], true);
  }
  count += add_computing(options, &ways[form_nonblocking], seconds, lanes + count);
  count += add_computing(options, &ways[form_sockets], seconds, lanes + count);
  return count;
}

static int run_rounds(const struct lane* lanes, int count, double seconds, struct times* all) {
  const double begin = now();
  int rounds = 0, least = least_rounds;
  while (referee_decides(rounds < least || (rounds < most_rounds && now() - begin < seconds))) {
    for (int i = 0; i < count; ++i) {
      const int turn = rounds % 2 == 0 ? i : count - 1 - i;
      take_turn(&lanes[turn], &all[(size_t)rounds * (size_t)count + (size_t)turn]);
    }
    if (++rounds == 1 && now() - begin > slow_round) least = least_rounds_slow;
  }
  return rounds;
}

// Every rank's times on rank 0; not timed, so that the MPI may do it.
static struct times* gathered(const struct cell* cell, const struct times* mine, int count) {
  const int numbers = count * phase_count;
  struct times* all = memory((size_t)count * (size_t)cell->ranks * sizeof *all);
  MPI_Gather(mine, numbers, MPI_DOUBLE, all, numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

static bool all_valid(struct way ways[side_count][form_count], int sides) {
  bool valid = true;
  for (int i = 0; i < sides * form_count; ++i) valid = (&ways[0][0])[i].valid && valid;
  return valid;
}

bool measure_nonblocking(const struct nonblocking_options* options, struct cell* cell, FILE* out) {
  struct way ways[side_count][form_count];
  struct lane lanes[most_lanes];
  const int sides = options->bench.untouched ? 1 : side_count;
  int count = 0;
  for (int side = 0; side < sides; ++side)
    for (int form = 0; form < form_count; ++form)
      open_way(&ways[side][form], options, cell, (enum form)form, side == side_hocket);
  for (int side = 0; side < sides; ++side)
    count += add_lanes(options, ways[side], computation(options, ways, side), lanes + count);
  struct times* mine = memory((size_t)most_rounds * (size_t)count * sizeof *mine);
  const int rounds = count > 0 ? run_rounds(lanes, count, options->bench.seconds * sides, mine) : 0;
  struct times* all = gathered(cell, mine, rounds * count);
  const struct table table = {all, cell->ranks, rounds, count};
  for (int side = 0; side < sides; ++side)
    for (int form = 0; form < form_count; ++form) {
      const bool was_timed = can_be_timed(&ways[side][form]);
      close_way(&ways[side][form]);
      if (out && ways[side][form].exists && !was_timed) print_wrong(out, options, &ways[side][form]);
    }
  for (int i = 0; out && i < count; ++i) print_lane(out, options, &lanes[i], &table, i);
  if (out) fflush(out);
  free(all);
  free(mine);
  return all_valid(ways, sides);
}
