// MPI operation -> the kernels' name of a predefined one. User operations are asked about each time (3 to 10
// ns): nothing has to be forgotten when they are freed.
#pragma once

#include "interpose/plugin/mpi_abi.hpp"
#include "kernels/kernels.hpp"

namespace hocket::interpose {

enum class OperationClass : std::uint8_t {
  predefined,
  user,
  unusable,  ///< null, or not for collectives (MPI_REPLACE, MPI_NO_OP): the MPI raises its own error
};

struct Operation {
  OperationClass kind = OperationClass::unusable;
  kernels::OpKind predefined = kernels::OpKind::none;
  bool commutative = true;
};

void open_operations();
Operation operation_of(MPI_Op handle);

}  // namespace hocket::interpose
