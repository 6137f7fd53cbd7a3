#include "engine/function_table.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace hocket::engine {

namespace {

std::string_view blocking_name(Function function) {
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

}  // namespace

std::string mpi_name_of(Called called) {
  constexpr std::size_t first_letter = std::string_view("MPI_").size();
  std::string name(blocking_name(called.function));
  if (called.form == Form::persistent) return name + "_init";
  if (called.form == Form::blocking) return name;
  name[first_letter] = static_cast<char>(std::tolower(name[first_letter]));
  return name.insert(first_letter, "I");
}

}  // namespace hocket::engine
