// How long a run took, and which share of it a rank spent inside MPI.
#pragma once

#include <mpi.h>

#include <utility>

#include "shared/program.hpp"

namespace apps {

// Adds up the time of all calls made through it.
class Stopwatch {
 public:
  template <class Call>
  void operator()(Call&& call) {
    const double begin = MPI_Wtime();
    std::forward<Call>(call)();
    seconds_ += MPI_Wtime() - begin;
  }

  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

struct Timing {
  double seconds = 0;              // of the slowest rank
  double communication_share = 0;  // of all ranks' time
};

// `work` is given the stopwatch for its communication.
template <class Work>
Timing timed(MPI_Comm comm, Work&& work) {
  MPI_Barrier(comm);
  Stopwatch communication;
  const double begin = MPI_Wtime();
  std::forward<Work>(work)(communication);
  const double mine[2] = {MPI_Wtime() - begin, communication.seconds()};
  double sums[2], slowest = 0;
  MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return {slowest, sums[0] > 0 ? sums[1] / sums[0] : 0};
}

}  // namespace apps
