// The benchmark program: times collectives of the MPI it runs under, with and without Hocket in the same
// process. docs/benchmark.md defines what is measured. Plain MPI: it knows Hocket only by a control call
// looked up at run time.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { max_sizes = 64, max_collectives = 16 };

struct bench_options {
  const char* collectives[max_collectives];
  int collective_count;
  size_t sizes[max_sizes];
  int size_count;
  double seconds;  // per cell and side
  int root;
  const char* type;    // float, double, int
  const char* out;     // JSON lines are appended here by rank 0
  bool untouched;      // time the MPI alone; Hocket must not be there
  bool validate_only;  // no measurement: a run for the report of what ran
};

// Exits with a message on bad arguments (after MPI_Finalize, with status 2).
void parse_options(int argc, char** argv, struct bench_options* options);

// Everything that one cell (collective, size) needs.
struct cell {
  const struct collective* collective;
  int ranks, rank, root;
  size_t count;  // elements per vector, or mean elements per block
  size_t bytes;
  MPI_Datatype type;
  size_t element;                                                // bytes of one element
  int *send_counts, *send_offsets, *recv_counts, *recv_offsets;  // v-forms
  char *send, *recv;
  size_t send_elements, recv_elements;
};

// Which contributions make up an output block: the sum over ranks [first, last) of value(rank, salt + j).
struct origin {
  int first, last;
  size_t salt;
};

struct collective {
  const char* name;
  void (*call)(const struct cell*);
  int send_blocks;  // 0 none, 1 one, -1 one per rank (on the root only where `send_root`)
  int recv_blocks;
  bool send_root, recv_root;
  bool vector;  // one vector instead of blocks
  bool uneven;  // v-form: blocks of unequal size
  struct origin (*origin)(const struct cell*, int block);
};

const struct collective* find_collective(const char* name);
const struct collective* collective_at(int index);  // NULL after the last one

// Elements in the block that goes from one rank to another (gather, scatter: from or to `self`).
size_t block_elements(const struct cell* cell, int from, int to);

bool cell_open(struct cell* cell, const struct bench_options* options, const struct collective* collective,
               size_t bytes);
void cell_close(struct cell* cell);

// Small whole numbers, so that sums are exact in every type. Depends on the iteration: stale results are
// found.
void cell_fill(struct cell* cell, unsigned iteration);
bool cell_valid(const struct cell* cell, unsigned iteration);
// Changes a few elements of what is sent: cheap enough for the timed loop.
void cell_touch(struct cell* cell, unsigned iteration);

// Switches Hocket on or off in this process; does nothing where it is not loaded.
bool hocket_loaded(void);    // preloaded into this process
bool hocket_attached(void);  // and in charge of this MPI; false where HOCKET=off or the MPI is not known
void hocket_switch(bool on);

// Both sides are there, or rank 0 says which is not.
bool sides_exist(const char* program, const struct bench_options* options);
FILE* open_output(const struct bench_options* options);  // NULL on the ranks that print nothing

// Agreement between the ranks that neither side takes part in. Open it with Hocket switched off.
void referee_open(void);
void referee_close(void);
void referee_start(void);                     // returns when all ranks are here
double referee_slowest(double seconds);       // of all ranks
bool referee_has_one_clock(void);             // all ranks are on one machine
bool referee_decides(bool answer_of_rank_0);  // the same answer everywhere

struct summary {
  double median_us, p10_us, p90_us;
  int batches;
  long k;
  bool valid;
};

enum { side_native, side_hocket, side_count };

// Interleaved batches A B B A ... of both sides (or of the native one alone). Results on rank 0.
void measure(struct cell* cell, const struct bench_options* options, struct summary result[side_count]);
bool validate(struct cell* cell, bool with_hocket, double* first);
// Calls that neither count nor are checked: set-up, and Hocket's trials. Returns what one of the last took.
// `known` is what a call took before, 0 if that says nothing.
double warm_up(struct cell* cell, bool with_hocket, double seconds, double known);
