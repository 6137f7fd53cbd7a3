#include "interpose/plugin/requests/persistent_request.hpp"

#include <mutex>

#include "base/error.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

PersistentRequest::~PersistentRequest() {
  if (!prepared_) return;
  remove_user_of(handles_);
  prepared_.reset();  // which needs the communicator
  release_persistent_of(communicator());
}

/// Once such an operation has published, only its own rank has something to do for it; and what it is
/// numbered by is its own.
bool PersistentRequest::needs_nobody(const engine::Prepared& prepared) {
  return prepared.path.flat && prepared.own_starts && calls_come_one_at_a_time();
}

bool PersistentRequest::begin_aside() {
  if (!(keeps_operation() ? repeat() : start_(*this))) return false;
  stand_aside();
  // A new operation publishes when it is first advanced, unless earlier starts still use its memory
  // somewhere.
  if (!operation().has_given() && !advance() && !operation().has_given()) join(*this);
  return true;
}

bool PersistentRequest::begin() {
  if (may_stand_aside_) return begin_aside();
  const std::lock_guard lock(progress_lock);
  if (!start_(*this)) return false;
  add_under_way(*this);
  return true;
}

int PersistentRequest::activate() noexcept {
  const MPI_Comm comm = communicator().handle;
  if (is_active()) return raise_class(comm, MPI_ERR_REQUEST);
  try {
    return begin() ? MPI_SUCCESS : raise_error(comm, communicator().engine->error());
  }
  HOCKET_EDGE(engine::Called(function_, engine::Form::persistent))
}

int PersistentRequest::consume(MPI_Request*) noexcept {
  become_inactive();
  return code();
}

int PersistentRequest::forget(MPI_Request* handle) noexcept {
  if (is_aside()) join(*this);
  [[maybe_unused]] const Request* itself = take_token(*handle).release();
  abandon();
  if (!is_anything_under_way()) free_unused(started_count());
  return host().Request_free(handle);
}

void PersistentRequest::dispose() noexcept {
  delete this;
}

}  // namespace hocket::interpose
