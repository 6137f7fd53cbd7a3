// The operations that are under way while a rank computes. Many MPIs move data only while they are called:
// test() between two pieces of computation is such a call.
#pragma once

#include <mpi.h>

#include <vector>

#include "shared/stopwatch.hpp"

namespace overlap {

// Whether a test is due after piece `index` of `pieces`, if `tests` of them are to be spread evenly.
inline bool test_is_due(int index, int pieces, int tests) {
  const long long before = static_cast<long long>(index) * tests / pieces;
  return (static_cast<long long>(index) + 1) * tests / pieces != before;
}

class Outstanding {
 public:
  Outstanding(int slots, apps::Stopwatch& communication)
      : requests_(slots, MPI_REQUEST_NULL), communication_(communication) {}

  // `begin` starts an operation and returns its request.
  template <class Begin>
  void start(int slot, Begin&& begin) {
    communication_([&] { requests_[slot] = begin(); });
  }

  void hold(int slot, MPI_Request request) { requests_[slot] = request; }

  void test() {
    communication_([&] {
      for (MPI_Request& request : requests_) {
        int done = 0;
        if (request != MPI_REQUEST_NULL) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      }
    });
  }

  void wait(int slot) {
    communication_([&] { MPI_Wait(&requests_[slot], MPI_STATUS_IGNORE); });
  }

  void set_slots(int slots) { requests_.assign(slots, MPI_REQUEST_NULL); }

 private:
  std::vector<MPI_Request> requests_;
  apps::Stopwatch& communication_;
};

}  // namespace overlap
