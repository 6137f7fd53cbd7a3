// The collective calls that Hocket makes itself, while MPI starts.
#pragma once

#include <string>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// Waits as the MPI would, and says so if it takes long: only this rank knows that it waits. `step`: for
/// what. False: the MPI has failed.
bool complete(MPI_Request request, const std::string& step);

}  // namespace hocket::interpose
