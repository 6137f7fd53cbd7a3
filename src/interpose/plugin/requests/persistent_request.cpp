#include "interpose/plugin/requests/persistent_request.hpp"

#include <mutex>

#include "base/error.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
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

bool PersistentRequest::begin() {
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
  [[maybe_unused]] const Request* itself = take_token(*handle).release();
  abandon();
  if (!is_anything_under_way()) free_unused(started_count());
  return host().Request_free(handle);
}

void PersistentRequest::dispose() noexcept {
  delete this;
}

}  // namespace hocket::interpose
