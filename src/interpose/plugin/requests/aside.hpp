// Operations that stand aside: started, and all that their peers need of this rank is there, so that nobody
// but who waits for them has anything to do for them. They are on no list and take no lock: MPI_Wait ends
// them alone (own_completion.cpp). Whatever else meets one puts it under way first.
//
// docs/design/0007-non-blocking.md
#pragma once

#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

/// No two threads call MPI at the same time. Sessions have thread levels of their own: so not beside them.
bool calls_come_one_at_a_time() noexcept;

/// Puts one under way that has been standing aside. Takes the progress lock.
void join(Request& request);
/// The same for the communicator's non-blocking one, if there is one. Under the progress lock.
void join_non_blocking_one(const Communicator& communicator);
/// The same for all of a communicator; null: for all.
void join_those_aside(const Communicator* communicator);
/// Lets go of the operation that the communicator keeps for the same call once more. Takes the progress lock.
void forget_kept(const Communicator& communicator) noexcept;
void forget_all_kept() noexcept;

}  // namespace hocket::interpose
