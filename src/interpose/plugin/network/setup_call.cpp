#include "interpose/plugin/network/setup_call.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

constexpr double patience_seconds = 10;

/// Longer and longer: with 32 ranks on a core, naps of 50 us would take all of it.
class Pauses {
 public:
  void pause() {
    constexpr int turns_before = 1000;
    constexpr long longest_ns = 5'000'000;
    if (++turns_ <= turns_before) return;
    sleep_ns(next_ns_);
    next_ns_ = std::min(next_ns_ + next_ns_ / 8, longest_ns);
  }

 private:
  int turns_ = 0;
  long next_ns_ = 50'000;
};

}  // namespace

bool complete(MPI_Request request, const std::string& step) {
  const Deadline patience(patience_seconds);
  bool said = false;
  Pauses pauses;
  for (int done = 0;;) {
    MPI_Status status;
    if (host().Test(&request, &done, &status) != MPI_SUCCESS) return false;
    if (done) return true;
    pauses.pause();
    if (said || !patience.passed()) continue;
    say("rank " + std::to_string(process.rank) + " waits in MPI_Init for " + step +
        ": HOCKET_ACROSS_NODES needs Hocket, with this option, on every rank");
    said = true;
  }
}

}  // namespace hocket::interpose
