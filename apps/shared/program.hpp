// The frame of every program here: MPI, the command line, and an exit status that all ranks share.
// 0: the answers are right; 1: one is wrong; 2: wrong words on the command line.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <functional>

#include "shared/command_line.hpp"

namespace apps {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

// `body` returns whether all its answers are right. It throws UsageError on all ranks or on none.
inline int run_guarded(int argc, char** argv, CommandLine& line, const std::function<bool()>& body) {
  const bool speaks = rank_of(MPI_COMM_WORLD) == 0;
  try {
    if (line.parse(argc, argv)) return body() ? 0 : 1;
    if (speaks) std::fputs(line.help().c_str(), stdout);
    return 0;
  } catch (const UsageError& problem) {
    if (speaks) std::fprintf(stderr, "%s: %s\n", line.name().c_str(), problem.what());
    return 2;
  } catch (const std::exception& problem) {  // of one rank alone: the others would wait for it
    std::fprintf(stderr, "%s: %s\n", line.name().c_str(), problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

inline int run_program(int argc, char** argv, CommandLine& line, const std::function<bool()>& body) {
  MPI_Init(&argc, &argv);
  const int status = run_guarded(argc, argv, line, body);
  MPI_Finalize();
  return status;
}

}  // namespace apps
