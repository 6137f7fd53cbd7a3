// The program's types and operations that the MPI is given whenever a call runs. What Hocket has looked up
// once, and needs no more, is not among them: types whose data lie as they are, predefined operations.
#pragma once

#include <array>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// 0, which no MPI has for a handle: none.
struct UsedHandles {
  std::array<HandleBits, 2> types{};
  HandleBits operation = 0;
};

}  // namespace hocket::interpose
