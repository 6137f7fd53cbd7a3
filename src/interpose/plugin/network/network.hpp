// HOCKET_ACROSS_NODES: the private communicator that carries collectives between nodes, and the agreement of
// all ranks to use it.
#pragma once

namespace hocket::interpose {

/// In MPI_Init, after the MPI's own. The one place where Hocket itself makes a collective call, hence only
/// when asked to: a rank that came up without Hocket would let the others wait.
void open_network();
/// A thread that goes on with messages was asked for: it needs MPI_THREAD_MULTIPLE.
bool is_messenger_wanted();
/// For programs that start MPI by a session only: what is left to the MPI, if they asked for more.
void explain_missing_network();
/// In MPI_Finalize, after the communicators that use it.
void close_network();

}  // namespace hocket::interpose
