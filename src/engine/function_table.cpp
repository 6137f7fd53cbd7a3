#include "engine/function_table.hpp"

#include <array>

namespace hocket::engine {

std::string_view mpi_name_of(Function function) {
  constexpr std::array<std::string_view, function_count> names = {"MPI_Barrier",
                                                                  "MPI_Bcast",
                                                                  "MPI_Reduce",
                                                                  "MPI_Allreduce",
                                                                  "MPI_Gather",
                                                                  "MPI_Gatherv",
                                                                  "MPI_Scatter",
                                                                  "MPI_Scatterv",
                                                                  "MPI_Allgather",
                                                                  "MPI_Allgatherv",
                                                                  "MPI_Alltoall",
                                                                  "MPI_Alltoallv",
                                                                  "MPI_Reduce_scatter",
                                                                  "MPI_Reduce_scatter_block",
                                                                  "MPI_Scan",
                                                                  "MPI_Exscan",
                                                                  "MPI_Alltoallw",
                                                                  "a neighborhood collective",
                                                                  "a collective of the MPI"};
  return names[static_cast<std::size_t>(function)];
}

}  // namespace hocket::engine
