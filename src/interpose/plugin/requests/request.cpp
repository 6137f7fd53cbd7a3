#include "interpose/plugin/requests/request.hpp"

#include <atomic>
#include <utility>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/failures.hpp"

namespace hocket::interpose {
namespace {

// Testall asks twice in MPICH; the answer is the same. An error has been raised on the communicator of the
// operation; the MPI would raise it once more, and on another one (failures.hpp).
int query(void*, MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) {
    host().Status_set_elements(status, MPI_BYTE, 0);
    host().Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

// The program has freed it or waited for it, and it is complete.
int free_request(void* extra_state) {
  auto& request = *static_cast<Request*>(extra_state);
  if (request.code() != MPI_SUCCESS) forget_failure(request.handle());
  give_back(request);
  return MPI_SUCCESS;
}

// Collectives cannot be cancelled.
int cancel(void*, int) {
  return MPI_SUCCESS;
}

}  // namespace

/// Given back by any thread, and taken under a lock, all at once: so nobody meets one that has been taken and
/// given back meanwhile. Requests are never destroyed, as all that calls of MPI use.
class UnusedRequests {
 public:
  Request& take() {
    if (!mine_) mine_ = returned_.exchange(nullptr, std::memory_order_acquire);
    return mine_ ? *std::exchange(mine_, mine_->next_unused_) : *new Request;
  }
  void give_back(Request& request) noexcept {
    request.next_unused_ = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(request.next_unused_, &request, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

 private:
  Request* mine_ = nullptr;  ///< of who takes
  std::atomic<Request*> returned_{nullptr};
};

static constinit UnusedRequests unused;

Request& take_request() {
  return unused.take();
}

void give_back(Request& request) noexcept {
  unused.give_back(request);
}

bool Request::run(engine::Prepared& prepared, const Call& call) {
  arrived_ = failed_ = is_ending_ = false;
  code_ = MPI_SUCCESS;
  prepared_ = &prepared;
  operation_ = communicator_->engine->start(prepared, call);
  if (!operation_) return false;
  ++prepared.users;
  return true;
}

int Request::make_handle(MPI_Request* handle) {
  const int code = host().Grequest_start(query, free_request, cancel, this, &handle_);
  if (code == MPI_SUCCESS) *handle = handle_;
  return code;
}

void Request::drop_handle(MPI_Request* handle) noexcept {
  host().Grequest_complete(handle_);
  host().Request_free(handle);  // gives it back
}

bool Request::advance() noexcept {
  const Status status = operation_->advance();
  if (status == Status::pending) return false;
  if (status != Status::ok) fail(status);
  arrived_ = true;
  return true;
}

void Request::fail(Status status) noexcept {
  operation_->fail(status);
  failed_ = arrived_ = true;
}

void Request::deliver() noexcept {
  code_ = deliver_(*this);
}

void Request::release() noexcept {
  operation_->release();
  --prepared_->users;
}

Request::Failure Request::failure() const {
  return {communicator_->handle, communicator_->engine->error()};
}

void Request::raise(const Failure& failure) noexcept {
  code_ = raise_error(failure.comm, failure.text);
}

void Request::tell() noexcept {
  if (code_ != MPI_SUCCESS) remember_failure(handle_, code_);
  host().Grequest_complete(handle_);
}

}  // namespace hocket::interpose
