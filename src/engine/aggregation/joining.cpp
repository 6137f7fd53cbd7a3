#include "engine/aggregation/joining.hpp"

#include <csignal>

#include "kernels/kernels.hpp"

namespace hocket::engine::aggregation {

using ir::Collective;

Joining::Joining(offload::Tree& tree, const offload::Member& self) noexcept : tree_(tree), self_(self) {
  start_thread();
}

Joining::~Joining() {
  if (!has_thread_) return;
  answer_ = Status::failed;
  given_up_ = true;
  go_on_thread(works);
  pthread_join(thread_, nullptr);
}

/// The program's signals are the program's threads'.
void Joining::start_thread() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  has_thread_ = pthread_create(&thread_, nullptr, run_thread, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* Joining::run_thread(void* self) {
  static_cast<Joining*>(self)->make();
  return nullptr;
}

void Joining::make() noexcept {
  state_.wait(waits, std::memory_order_acquire);
  if (!given_up_) try {
      made_ = tree_.make_group(self_, *this);
    } catch (...) {
      made_ = {};
      made_.error = -1;
    }
  state_.store(is_over, std::memory_order_release);
}

void Joining::go_on_thread(State state) noexcept {
  state_.store(state);
  state_.notify_one();
}

// ---- in the thread

Status Joining::say(std::string_view algorithm, const executors::Operation& operation) noexcept {
  operation_ = operation;
  algorithm_ = algorithm;
  state_.store(asks);
  if (given_up_) return Status::failed;  // its `works` may have come before our `asks`
  state_.wait(asks, std::memory_order_acquire);
  return answer_;
}

// ---- in whoever goes on with the operation

Status Joining::advance(MemberRuns& members) noexcept {
  if (!all_know_) return tell_of_thread(members);
  switch (state_.load(std::memory_order_acquire)) {
    case asks:
      return carry(members);
    case is_over:
      return Status::ok;
    default:
      return Status::pending;
  }
}

/// A member without a thread would let the others wait.
Status Joining::tell_of_thread(MemberRuns& members) noexcept {
  try {
    if (!run_) {
      lacks_thread_ = has_thread_ ? 0 : 1;
      operation_.collective = Collective::allreduce;
      operation_.input = &lacks_thread_;
      operation_.output = &anybody_lacks_thread_;
      operation_.agreed_bytes = operation_.own_bytes = 1;
      operation_.reduction.kernel = kernels::find(kernels::OpKind::max, kernels::ElementType::u8);
      run_ = &members.lay("recursive_doubling", operation_);
    }
  } catch (...) {
    return Status::no_memory;
  }
  if (const Status status = advance_run(); status != Status::ok) return status;
  all_know_ = true;
  if (anybody_lacks_thread_ == 0) {
    go_on_thread(works);
    return Status::pending;
  }
  made_.words = "a rank cannot start a thread";
  return Status::ok;
}

Status Joining::carry(MemberRuns& members) noexcept {
  try {
    if (!run_) run_ = &members.lay(algorithm_, operation_);
  } catch (...) {
    return Status::no_memory;
  }
  if (const Status status = advance_run(); status != Status::ok) return status;
  answer_ = Status::ok;
  go_on_thread(works);
  return Status::pending;
}

Status Joining::advance_run() noexcept {
  const Status status = run_->advance();
  if (status != Status::pending) run_ = nullptr;
  return status;
}

}  // namespace hocket::engine::aggregation
