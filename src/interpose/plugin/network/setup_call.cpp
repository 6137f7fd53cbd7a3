#include "interpose/plugin/network/setup_call.hpp"

#include <time.h>

#include "base/clock.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

constexpr double patience_seconds = 10;

void pause() {
  const timespec moment{0, 50'000};
  nanosleep(&moment, nullptr);
}

}  // namespace

bool complete(MPI_Request request, const std::string& step) {
  const Deadline patience(patience_seconds);
  bool said = false;
  for (int turn = 0, done = 0; true; ++turn) {
    MPI_Status status;
    if (host().Test(&request, &done, &status) != MPI_SUCCESS) return false;
    if (done) return true;
    if (turn > 1000) pause();
    if (said || !patience.passed()) continue;
    say("rank " + std::to_string(process.rank) + " waits in MPI_Init for " + step +
        ": HOCKET_ACROSS_NODES needs Hocket, with this option, on every rank");
    said = true;
  }
}

}  // namespace hocket::interpose
