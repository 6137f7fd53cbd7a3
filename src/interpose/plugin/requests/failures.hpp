// Requests of operations that have failed and have not been waited for. Their error was raised on their
// communicator when they ended; who waits for them gets its code.
//
// The MPI would raise what a generalized request's query function returns a second time, and on
// MPI_COMM_WORLD, whatever the communicator's handler is.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "interpose/plugin/mpi_abi.hpp"

namespace hocket::interpose {

extern std::atomic<std::uint32_t> failed_requests;
inline bool is_any_request_failed() noexcept {
  return failed_requests.load(std::memory_order_relaxed) != 0;
}

void remember_failure(MPI_Request request, int code) noexcept;
void forget_failure(MPI_Request request) noexcept;
int failure_of(MPI_Request request) noexcept;  ///< MPI_SUCCESS: none

/// The errors of an array of requests, asked for before the MPI completes them and changes the array.
class Failures {
 public:
  /// Throws std::bad_alloc.
  Failures(int count, const MPI_Request* requests);

  /// For functions that complete one.
  int of(int place) const { return place >= 0 ? codes_[static_cast<std::size_t>(place)] : MPI_SUCCESS; }
  /// For functions that complete all of them, or `completed` ones at `indices`: fills in the statuses'
  /// errors.
  int in_all(MPI_Status* statuses) const;
  int in_some(int completed, const int* indices, MPI_Status* statuses) const;

 private:
  std::vector<int> codes_;
};

}  // namespace hocket::interpose
