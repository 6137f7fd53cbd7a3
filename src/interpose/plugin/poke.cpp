#include "interpose/plugin/poke.hpp"

#include <atomic>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

MPI_Request never;
std::atomic<bool> started{false};

int query(void*, MPI_Status*) {
  return MPI_SUCCESS;
}
int release(void*) {
  return MPI_SUCCESS;
}
int cancel(void*, int) {
  return MPI_SUCCESS;
}

}  // namespace

void start_poking() {
  if (started) return;
  started = host().Grequest_start(query, release, cancel, nullptr, &never) == MPI_SUCCESS;
}

void stop_poking() {
  if (!started.exchange(false)) return;
  host().Grequest_complete(never);
  MPI_Status status;
  host().Wait(&never, &status);
}

// Blocking collectives that wait go on with the others, too: a peer may need those to come to this one.
bool poke(void*) noexcept {
  const bool has_more_to_do = is_anything_under_way();
  if (has_more_to_do) [[unlikely]]
    progress();
  if (!started.load(std::memory_order_relaxed)) return has_more_to_do;
  int done = 0;
  MPI_Status status;
  host().Request_get_status(never, &done, &status);
  return has_more_to_do;
}

}  // namespace hocket::interpose
