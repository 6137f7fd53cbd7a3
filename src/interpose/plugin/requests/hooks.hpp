// Progress inside the MPI's own blocking calls, where it lets others take part: Open MPI.
#pragma once

namespace hocket::interpose {

/// After MPI has been started, and before it ends.
void hook_into_mpi();
void unhook_from_mpi();
bool is_hooked_into_mpi();

}  // namespace hocket::interpose
