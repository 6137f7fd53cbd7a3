// Waiting for what the MPI tells by tests, while Hocket's operations go on.
#pragma once

#include <cstdint>

#include "interpose/plugin/mpi_abi.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

// What the MPI itself progresses is asked about less often: four ranks on two cores, 64 KiB, took 8 to 15 %
// longer with a test in every turn.
inline constexpr std::uint32_t turns_per_test = 4;

/// `test` sets the flag when the wait is over; `wait` is the MPI's own, for when nothing of Hocket's is left.
/// Both return an MPI error code, which ends the wait.
template <class Test, class Wait>
int wait_by_tests(Test test, Wait wait) {
  Pauses pauses;
  for (std::uint32_t turn = 0; is_anything_under_way(); ++turn) {
    const std::uint32_t completed_before = completed_count();
    progress();
    if (turn % turns_per_test == turns_per_test - 1 || completed_count() != completed_before) {
      int done = 0;
      const int code = test(&done);
      if (done || code != MPI_SUCCESS) return code;
    }
    pauses.pause();
  }
  return wait();
}

/// MPI_Wait.
int wait_with_progress(MPI_Request* request, MPI_Status* status);

}  // namespace hocket::interpose
