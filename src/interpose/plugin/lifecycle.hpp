// From the first MPI_Init or Session_init to the last Finalize: what is started and ended with MPI.
#pragma once

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// Before the MPI's own initialisation; the first of several counts.
void before_start();
/// After it, with the group of all the job's processes.
void after_start(MPI_Group world);
/// Before the MPI's own end, when it is the last one: writes the report, gives everything back.
void before_end();

bool sessions_remain();
bool world_remains();

}  // namespace hocket::interpose
