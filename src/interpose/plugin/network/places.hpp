// All ranks tell each other where they are, once, in MPI_Init.
#pragma once

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// Collective over `comm`, which has all ranks of the world. False: the MPI has failed; otherwise the engine
/// knows all ranks' nodes and switches, on all ranks the same. `shared`: what they know is kept once on each
/// node, whose ranks meet for it.
bool exchange_places(MPI_Comm comm, bool shared);

}  // namespace hocket::interpose
