// What others need to know about MPI sessions.
#pragma once

namespace hocket::interpose {

/// One session, and no MPI_Init: groups can only be the session's.
bool is_only_session();

}  // namespace hocket::interpose
