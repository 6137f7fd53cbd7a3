/* One collective, in all the ways in which it can be called, checked against the reference. */
#ifndef HOCKET_TESTS_SHARP_CALLS_H
#define HOCKET_TESTS_SHARP_CALLS_H

#include "ranks.h"
#include "reference.h"

/* How a collective is called. */
struct manner {
  int in_place, nonblocking;
  enum sharp_aggregation_mode mode;
};

struct call {
  struct sharp_coll_comm* comm;
  struct members members; /* as world ranks, in the order of the communicator */
  int rank;               /* in it */
  enum sharp_datatype type;
  enum sharp_reduce_op op;
  size_t count; /* elements; of reduce-scatter and allgather, per rank */
  struct manner manner;
};

void check_allreduce(const struct call* call);
void check_reduce(const struct call* call, int root);
void check_bcast(const struct call* call, int root);
void check_allgather(const struct call* call);
void check_reduce_scatter(const struct call* call);
void check_barrier(const struct call* call);

/* Until it is complete, by tests alone; frees it. The last test's value. */
int finish(void* request);

struct sharp_coll_data_desc buffer_of(void* data, size_t bytes);

#endif
