// What belongs to a function that a program calls: its name in MPI, its shape, and what MPI obliges the ranks
// to know about sizes.
#pragma once

#include <string>

#include "engine/call.hpp"

namespace hocket::engine {

/// As the program wrote it: "MPI_Iallreduce".
std::string mpi_name_of(Called called);

/// False where no size is known to all ranks.
constexpr bool sizes_known(Function f) {
  return f != Function::gatherv && f != Function::scatterv && f != Function::alltoallv;
}

/// True where all blocks have one size by the call's definition (whatever the numbers are in one call).
constexpr bool equal_blocks(Function f) {
  return sizes_known(f) && f != Function::allgatherv && f != Function::reduce_scatter;
}

/// Hocket never runs it.
constexpr bool is_foreign(Function f) {
  return f >= Function::alltoallw;
}

}  // namespace hocket::engine
