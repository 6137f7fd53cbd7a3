// How a datatype was made, as the MPI tells it.
#pragma once

#include <optional>
#include <vector>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// Nothing if the MPI does not say.
std::optional<int> combiner_of(MPI_Datatype handle);

/// Made by no constructor of the program, and not to be freed: named types, and Fortran's parametrised ones.
bool is_predefined(int combiner);

/// The arguments of the constructor. Those of its large-count form stand where those of the other form would.
class Construction {
 public:
  /// Nothing if the MPI does not say. A predefined type has no arguments.
  static std::optional<Construction> of(MPI_Datatype handle);
  ~Construction();
  Construction(Construction&&) = default;
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;

  int combiner() const { return combiner_; }
  MPI_Count integer(std::size_t i) const { return integers_[i]; }
  MPI_Count address(std::size_t i) const { return addresses_[i]; }
  const std::vector<MPI_Datatype>& parts() const { return parts_; }

 private:
  explicit Construction(int combiner) : combiner_(combiner) {}
  bool read(MPI_Datatype handle, int integers, int addresses, int datatypes);
  bool read_large(MPI_Datatype handle, MPI_Count integers, MPI_Count addresses, MPI_Count large,
                  MPI_Count datatypes);
  void sort_in(const std::vector<MPI_Count>& large);

  int combiner_;
  std::vector<MPI_Count> integers_;
  std::vector<MPI_Count> addresses_;
  std::vector<MPI_Datatype> parts_;
};

}  // namespace hocket::interpose
