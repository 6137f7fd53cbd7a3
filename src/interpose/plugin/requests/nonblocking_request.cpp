#include "interpose/plugin/requests/nonblocking_request.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/lifecycle.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/own_requests.hpp"

namespace hocket::interpose {

/// Given back by any thread, and taken under a lock, all at once: so nobody meets one that has been taken and
/// given back meanwhile.
class UnusedRequests {
 public:
  /// Null: there is none.
  NonblockingRequest* take() noexcept {
    if (!mine_) mine_ = returned_.exchange(nullptr, std::memory_order_acquire);
    return mine_ ? std::exchange(mine_, mine_->next_unused_) : nullptr;
  }
  void give_back(NonblockingRequest& request) noexcept {
    request.next_unused_ = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(request.next_unused_, &request, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

 private:
  NonblockingRequest* mine_ = nullptr;  ///< of who takes
  std::atomic<NonblockingRequest*> returned_{nullptr};
};

static constinit UnusedRequests unused;

namespace {

/// The world model has a communicator that is always there. Its requests are not good beside those of a
/// session's communicators: Open MPI refuses arrays of both.
bool keeps_tokens() noexcept {
  return process.world && !sessions_remain();
}

NonblockingRequest& make_request(const Communicator& c, bool is_kept) {
  auto made = std::make_unique<NonblockingRequest>(is_kept);
  NonblockingRequest& request = *made;
  const int code =
      is_kept ? give_token(std::move(made), MPI_COMM_SELF, 0) : give_token(std::move(made), c.handle, c.rank);
  if (code != MPI_SUCCESS) throw std::bad_alloc();
  return request;
}

void drop(NonblockingRequest& request) noexcept {
  MPI_Request token = request.token();
  take_token(token);
  host().Request_free(&token);
}

}  // namespace

NonblockingRequest& take_request(const Communicator& c) {
  const bool is_kept = keeps_tokens();
  NonblockingRequest* request = is_kept ? unused.take() : nullptr;
  return request ? *request : make_request(c, is_kept);
}

// A token that is kept and comes back after the world model has ended went with it.
void give_back(NonblockingRequest& request) noexcept {
  request.become_inactive();
  if (!request.is_kept_)
    drop(request);
  else if (process.world)
    unused.give_back(request);
  else
    take_token(request.token());
}

void free_unused_requests() noexcept {
  while (NonblockingRequest* request = unused.take()) drop(*request);
}

int NonblockingRequest::consume(MPI_Request* handle) noexcept {
  const int result = code();
  *handle = null().request;
  give_back(*this);
  return result;
}

int NonblockingRequest::activate() noexcept {
  return raise_class(communicator().handle, MPI_ERR_REQUEST);
}

int NonblockingRequest::forget(MPI_Request* handle) noexcept {
  *handle = null().request;
  abandon();
  return MPI_SUCCESS;
}

void NonblockingRequest::dispose() noexcept {
  give_back(*this);
}

}  // namespace hocket::interpose
