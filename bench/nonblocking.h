// The benchmark of non-blocking and persistent collectives: what they cost beside the blocking call, how much
// of them hides behind computation, and what a late rank does to the others. docs/benchmark.md defines the
// numbers.
#pragma once

#include "hocket_bench.h"

enum { most_tests = 8 };

// sockets: no call of MPI, but what moves the same bytes with the least work (nonblocking_sockets.h).
enum form { form_blocking, form_nonblocking, form_persistent, form_sockets, form_count };

struct nonblocking_options {
  struct bench_options bench;
  int tests[most_tests];  // calls of MPI_Test per operation
  int test_count;
  double compute;       // seconds per operation; 0: as long as start and wait take without it
  bool compute_native;  // as long as they take without Hocket, on both sides
  bool sockets;         // the form, too, on the MPI's own side
  bool timeline;        // instead of the costs: who waits for whom, operation by operation
  int operations;
  double late;                     // seconds that one rank comes too late to every operation
  int late_rank;                   // -1: another one for every operation, drawn
  double detour_interval, detour;  // seconds: every so often each rank is away for so long; 0: never
  unsigned seed;
};

// Exits with a message on bad arguments, as parse_options() does.
void parse_nonblocking_options(int argc, char** argv, struct nonblocking_options* options);

// One operation: a cell, called in one of the forms. Started and not yet completed in between.
struct operation {
  const struct cell* cell;
  enum form form;
  MPI_Request request;
};

bool form_exists(const struct cell* cell, enum form form);  // older MPIs have no persistent collectives
void operation_open(struct operation* operation);           // makes a persistent request
void operation_start(struct operation* operation);          // a blocking operation ends here already
bool operation_test(struct operation* operation);           // true: it is complete
void operation_wait(struct operation* operation);
void operation_close(struct operation* operation);

// Computation that knows nothing of MPI and touches no memory. The amount is fixed (`work`), so that it takes
// longer where something else uses the core; or the time is, as far as the clock tells.
void compute_work(long units);
void compute_until(double time);
long units_in(double seconds);  // on an undisturbed core

// Memory for so many bytes, every page of it touched; ends the program where there is none.
void* memory(size_t bytes);

// Where the time of an operation goes; what the calls of MPI in it took of the thread's core, and how long
// the node's worker process, and its card, ran meanwhile.
enum phase {
  phase_total,
  phase_start,
  phase_compute,
  phase_test,
  phase_wait,
  phase_core,
  phase_worker,
  phase_card,
  phase_count
};

const char* side_name(const struct nonblocking_options* options, bool with_hocket);

// False: wrong results.
bool measure_nonblocking(const struct nonblocking_options* options, struct cell* cell, FILE* out);
void record_timeline(const struct nonblocking_options* options, struct cell* cell, FILE* out);
