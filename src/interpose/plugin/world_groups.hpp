// Who is who in the job: the groups of all its processes, against which other groups are read. MPI_Init
// brings one, and so does each session; groups do not say to which session they belong, so all are asked.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

/// Owner of MPI_Init's group; a session owns by the bits of its handle.
inline constexpr HandleBits world_model = ~HandleBits{0};

void keep_world_group(HandleBits owner, MPI_Group group);
/// Before its owner ends.
void free_world_group(HandleBits owner);

/// World rank of each member, in order; empty when they are not all in this process's world. Depends on the
/// members alone: all of them find the same, whatever else each of them has opened.
std::vector<engine::Rank> world_ranks(MPI_Group group);

}  // namespace hocket::interpose
