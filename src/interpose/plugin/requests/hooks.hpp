// Progress inside the MPI's own blocking calls, where it lets others take part.
#pragma once

namespace hocket::interpose {

/// After MPI has been started, and before it ends.
void hook_into_mpi();
void unhook_from_mpi();
/// Open MPI: its progress engine calls Hocket for good, and Hocket may call the MPI from there.
bool is_hooked_into_mpi();

/// Does this MPI have a progress engine that others can take part in, in one way or the other?
bool lends_progress();

/// MPICH 5: something is under way; until all of it has ended its progress engine goes on with what can do
/// without a call of the MPI.
void lend_progress_to_mpi() noexcept;

}  // namespace hocket::interpose
