#include "interpose/plugin/requests/request.hpp"

#include <mutex>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

bool Request::run(engine::Prepared& prepared, const Call& call) {
  arrived_ = failed_ = is_ending_ = is_abandoned_ = false;
  code_ = MPI_SUCCESS;
  prepared_ = &prepared;
  operation_ = communicator_->engine->start(prepared, call);
  if (!operation_) return false;
  ++prepared.users;
  state_.store(State::under_way, std::memory_order_relaxed);
  return true;
}

bool Request::repeat() noexcept {
  arrived_ = failed_ = is_ending_ = is_abandoned_ = false;
  if (!operation_->repeat()) return false;
  keeps_operation_ = false;
  state_.store(State::under_way, std::memory_order_relaxed);
  return true;
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

void Request::end_alone() noexcept {
  deliver();
  if (is_plain_ && may_keep_operation_)
    keeps_operation_ = true;
  else
    release();
  leave_aside(State::over);
}

void Request::leave_aside(State next) noexcept {
  if (communicator_->aside == this) communicator_->aside = nullptr;
  state_.store(next, std::memory_order_relaxed);
}

void Request::release() noexcept {
  keeps_operation_ = false;
  operation_->release();
  --prepared_->users;
}

int Request::fail_to_deliver() noexcept {
  return code_ = say_error(communicator_->engine->error());
}

void Request::tell() noexcept {
  if (is_abandoned_) return dispose();
  state_.store(State::over, std::memory_order_release);
}

void Request::abandon() noexcept {
  const std::lock_guard lock(progress_lock);
  if (is_active() && !is_over())
    is_abandoned_ = true;
  else
    dispose();
}

}  // namespace hocket::interpose
