// Revoked communicators (user-level failure mitigation).
#pragma once

namespace hocket::interpose {

/// Takes the question whether a communicator is revoked out of the way of all calls, where this MPI says that
/// none can be: Open MPI knows it only when started with --with-ft. Once MPI is up.
void find_out_about_revocation();

}  // namespace hocket::interpose
