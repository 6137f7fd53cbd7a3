// Waits and tests of active collectives that Hocket runs. To the MPI they are inactive, so that it gives
// their empty status but would not wait for them.
//
// Each function is MPI's of that name, for one active request of Hocket's with its handle, or for an array
// that includes such ones. Else the MPI's answers are right.
#pragma once

#include "interpose/plugin/requests/own_requests.hpp"

namespace hocket::interpose::own {

bool look_for_active(int count, const MPI_Request* requests) noexcept;
/// Any of these requests is an active one of Hocket's.
inline bool includes_active(int count, const MPI_Request* requests) {
  return own_request_count.load(std::memory_order_relaxed) && look_for_active(count, requests);
}

int wait(Request& request, MPI_Request* handle, MPI_Status* status);
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int test(Request& request, MPI_Request* handle, int* done, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses);
int test_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int get_status(MPI_Request handle, int* done, MPI_Status* status);
int get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses);
int get_status_any(int count, const MPI_Request* requests, int* index, int* done, MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses);

}  // namespace hocket::interpose::own
