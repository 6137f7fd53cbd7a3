// Ways to do a thing, timed in turns: what the parts of hocket_costs have in common.
#pragma once

#include "hocket_bench.h"

extern int rank, ranks;

// The functions that are called past Hocket, or through it.
struct mpi {
  int (*neighbor_alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*dup)(MPI_Comm, MPI_Comm*);
  int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*free_communicator)(MPI_Comm*);
  int (*ialltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*);
  int (*wait)(MPI_Request*, MPI_Status*);
};
extern struct mpi without;
extern const struct mpi with;

enum { most_batches = 61 };

// One way to do a thing `times` times.
struct side {
  const char* name;
  void (*act)(const struct mpi*, long times);
  const struct mpi* mpi;
  double seconds[most_batches];
};

// Interleaved batches; prints medians of the slowest rank's time.
void compare(const char* what, const char* unit, double scale, long times, struct side* sides, int count);

// The hand-over between ranks and the copies of an alltoall, beside the calls that need them.
void floors(void);
