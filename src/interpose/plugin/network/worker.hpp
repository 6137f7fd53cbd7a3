// The worker processes of all nodes: each rank meets the one of its own, and these get to know each other.
#pragma once

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// All ranks go through this alike. Afterwards all of them have a worker, or none has one.
void open_workers(MPI_Comm comm);

}  // namespace hocket::interpose
