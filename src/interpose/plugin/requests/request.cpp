#include "interpose/plugin/requests/request.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/failures.hpp"

namespace hocket::interpose {
namespace {

// Never destroyed, as all tables that calls of MPI use.
struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Request>> all;
  std::vector<Request*> unused;
};
Pool& pool = *new Pool;

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

Request& take_request() {
  const std::lock_guard lock(pool.mutex);
  if (pool.unused.empty()) {
    pool.all.push_back(std::make_unique<Request>());
    pool.unused.reserve(pool.all.size());
    return *pool.all.back();
  }
  Request& request = *pool.unused.back();
  pool.unused.pop_back();
  return request;
}

void give_back(Request& request) noexcept {
  const std::lock_guard lock(pool.mutex);
  pool.unused.push_back(&request);  // there is room: see take_request
}

bool Request::run(engine::Prepared& prepared, const Call& call) {
  arrived_ = failed_ = false;
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
