// What a cell's turns come to: the slowest rank's time of each, with its parts, as medians.
#include <stdio.h>

#include "nonblocking_lanes.h"
#include "statistics.h"

static const char* const loop_names[] = {"none", "time", "work", "alone"};
static const char* const form_names[] = {"blocking", "nonblocking", "persistent", "sockets"};

static const struct times* slowest(const struct table* table, int round, int lane) {
  const struct times* most = NULL;
  for (int rank = 0; rank < table->ranks; ++rank) {
    const size_t row = (size_t)rank * (size_t)table->rounds + (size_t)round;
    const struct times* t = &table->all[row * (size_t)table->lanes + (size_t)lane];
    if (!most || t->seconds[phase_total] > most->seconds[phase_total]) most = t;
  }
  return most;
}

struct spread {
  double median, p10, p90;
};

static struct spread spread_of(const struct table* table, int lane, enum phase phase) {
  double seconds[most_rounds];
  for (int round = 0; round < table->rounds; ++round)
    seconds[round] = 1e6 * slowest(table, round, lane)->seconds[phase];
  sort_numbers(seconds, table->rounds);
  return (struct spread){quantile(seconds, table->rounds, 0.5), quantile(seconds, table->rounds, 0.1),
                         quantile(seconds, table->rounds, 0.9)};
}

static void print_head(FILE* out, const struct nonblocking_options* options, const struct way* way) {
  const struct cell* cell = way->operation.cell;
  fprintf(out, "{\"ranks\": %d, \"collective\": \"%s\", \"bytes\": %zu, \"type\": \"%s\", \"root\": %d, ",
          cell->ranks, cell->collective->name, cell->bytes, options->bench.type, cell->root);
  fprintf(out, "\"side\": \"%s\", \"form\": \"%s\", \"make_us\": %.4f, \"valid\": %s, ",
          side_name(options, way->with_hocket), form_names[way->operation.form], 1e6 * way->make,
          way->valid ? "true" : "false");
}

static const struct way* way_of(const struct lane* lane) {
  return (const struct way*)lane->operation;  // its first member
}

void print_lane(FILE* out, const struct nonblocking_options* options, const struct lane* lane,
                const struct table* table, int index) {
  const struct spread total = spread_of(table, index, phase_total);
  print_head(out, options, way_of(lane));
  fprintf(out, "\"loop\": \"%s\", \"tests\": %d, \"apart\": %s, ", loop_names[lane->loop], lane->tests,
          lane->apart ? "true" : "false");
  fprintf(out, "\"median_us\": %.4f, \"p10_us\": %.4f, \"p90_us\": %.4f, ", total.median, total.p10,
          total.p90);
  fprintf(out, "\"start_us\": %.4f, \"compute_us\": %.4f, \"test_us\": %.4f, \"wait_us\": %.4f, ",
          spread_of(table, index, phase_start).median, spread_of(table, index, phase_compute).median,
          spread_of(table, index, phase_test).median, spread_of(table, index, phase_wait).median);
  if (lane->reads_cpu)
    fprintf(out, "\"cpu_us\": %.4f, \"worker_us\": %.4f, \"card_us\": %.4f, ",
            spread_of(table, index, phase_core).median, spread_of(table, index, phase_worker).median,
            spread_of(table, index, phase_card).median);
  fprintf(out, "\"batches\": %d, \"k\": %d}\n", table->rounds, lane->per_turn);
}

void print_wrong(FILE* out, const struct nonblocking_options* options, const struct way* way) {
  print_head(out, options, way);
  fprintf(out, "\"loop\": \"none\", \"tests\": 0, \"apart\": false, \"batches\": 0, \"k\": 0}\n");
}
