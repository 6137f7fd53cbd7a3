// How one cell is measured: the ways to do its operation, what a turn of each gives, and what is told of it.
#pragma once

#include "nonblocking.h"

enum { most_rounds = 200 };

// What is computed while the operation is under way. alone: the fixed work, in the same parts, without any
// operation.
enum loop { loop_none, loop_time, loop_work, loop_alone };

// One way to run an operation.
struct lane {
  bool with_hocket;
  struct operation* operation;
  enum loop loop;
  int tests;
  bool apart;      // the ranks start every operation together, and the clock is read at every step
  bool reads_cpu;  // what MPI and the worker take is read, too: of operations that take so long that it is
                   // not felt
  double compute;
  long units;
  int per_turn;
};

// Of one operation, by phase.
struct times {
  double seconds[phase_count];
};

// One form on one side.
struct way {
  struct operation operation;
  bool with_hocket, exists, valid;
  double estimate;  // seconds of one operation, all ranks starting together
  double make;      // seconds to make the persistent request
};

// What all ranks measured: [rank][round][lane].
struct table {
  const struct times* all;
  int ranks, rounds, lanes;
};

// Seconds that this node's worker process has run; 0: there is none, or it cannot be told.
double worker_core_now(void);
// The same of all processes of this node's card, in the lab.
double card_core_now(void);

// One JSON line. `index`: of the lane in the table.
void print_lane(FILE* out, const struct nonblocking_options* options, const struct lane* lane,
                const struct table* table, int index);
// Of a form that is there, but gives wrong results and was not timed.
void print_wrong(FILE* out, const struct nonblocking_options* options, const struct way* way);
