// The MPI's requests that stand for Hocket's, and whose they are.
//
// Such a request, a token, is a persistent receive of the MPI's that is never started. So the MPI always sees
// an inactive request, which all its functions ignore: only what they would say of an active one is said by
// Hocket (own_completion.hpp). It is one of point-to-point: inactive persistent collectives hang in MPICH's
// MPI_Waitall (5.0) and in all its waits (4.0).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

/// By token.
extern HandleTable<Request>& own_requests;
extern std::atomic<std::uint32_t> own_request_count;

inline Request* find_own(MPI_Request handle) {
  return own_request_count.load(std::memory_order_relaxed) ? own_requests.value_of(bits_of(handle)) : nullptr;
}
/// One that has been started, and not been waited for since. Null: the MPI's own answers are right.
inline Request* find_started(MPI_Request handle) {
  Request* request = find_own(handle);
  return request && request->is_active() ? request : nullptr;
}
/// The same, under way or over: not aside any more.
inline Request* find_active(MPI_Request handle) {
  Request* request = find_started(handle);
  if (request && request->is_aside()) [[unlikely]]
    join(*request);
  return request;
}

/// New tokens last: they are good for operations on all communicators.
bool tokens_last() noexcept;
/// Makes a token for the request, which the table owns from now on; on this communicator if tokens do not
/// last. An MPI error code. Throws std::bad_alloc.
int give_token(std::unique_ptr<Request> request, const Communicator& communicator);
/// What is left of it when it has no token any more, which goes back to the MPI elsewhere.
std::unique_ptr<Request> take_token(MPI_Request token);

/// The MPI is about to free what is on this communicator, tokens included: so they go first, but for those of
/// operations under way.
void free_tokens_on(const Communicator& communicator);

/// MPI_ERR_REQUEST, for a call that MPI does not allow with this request.
int refuse_request() noexcept;

/// MPI ends: nothing is under way. Non-blocking requests that are over may still be waited for.
void forget_persistent_requests();

}  // namespace hocket::interpose
