#include "interpose/plugin/requests/nonblocking_request.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/requests/progress.hpp"

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

NonblockingRequest& make_request(const Communicator& c) {
  auto made = std::make_unique<NonblockingRequest>();
  NonblockingRequest& request = *made;
  if (give_token(std::move(made), c) != MPI_SUCCESS) throw std::bad_alloc();
  return request;
}

void drop(NonblockingRequest& request) noexcept {
  MPI_Request token = request.token();
  take_token(token);
  host().Request_free(&token);
}

}  // namespace

NonblockingRequest& take_request(const Communicator& c) {
  NonblockingRequest* request = tokens_last() ? unused.take() : nullptr;
  return request ? *request : make_request(c);
}

// A lasting token that comes back after the world model has ended went with it.
void give_back(NonblockingRequest& request) noexcept {
  request.become_inactive();
  if (!request.has_lasting_token())
    drop(request);
  else if (process.world)
    unused.give_back(request);
  else
    take_token(request.token());
}

void free_unused_requests() noexcept {
  while (NonblockingRequest* request = unused.take()) drop(*request);
}

/// One at most: operations of a communicator are numbered together, so that a second one's memory may be free
/// only when the first has ended. Plain data, and no operation of the program's: what it uses may be freed.
bool NonblockingRequest::may_stand_aside() const noexcept {
  return prepared().path.flat && is_plain() && communicator().requests_under_way == 0 &&
         operation().needs() == engine::Outstanding::Needs::nothing && calls_come_one_at_a_time();
}

bool NonblockingRequest::may_repeat() const noexcept {
  const Communicator& c = communicator();
  return c.requests_under_way == 0 && calls_come_one_at_a_time() && c.engine->is_up_to_date(prepared());
}

bool NonblockingRequest::begin_again() {
  if (!repeat()) return let_go(), false;
  communicator().kept = nullptr;
  begin();
  return true;
}

void NonblockingRequest::let_go() noexcept {
  communicator().kept = nullptr;
  release();
  give_back(*this);
}

void NonblockingRequest::begin() {
  if (!may_stand_aside() || advance() || !operation().has_given()) return add_under_way(*this);
  keep_operation(has_lasting_token() && !prepared().has_choice());
  stand_aside();
  communicator().aside = this;
}

int NonblockingRequest::consume(MPI_Request* handle) noexcept {
  const int result = code();
  *handle = null().request;
  if (!keeps_operation()) return give_back(*this), result;
  become_inactive();
  communicator().kept = this;
  return result;
}

int NonblockingRequest::activate() noexcept {
  return refuse_request();
}

int NonblockingRequest::forget(MPI_Request* handle) noexcept {
  if (!is_active()) return refuse_request();
  if (is_aside()) join(*this);
  *handle = null().request;
  abandon();
  return MPI_SUCCESS;
}

// Freeing a token may free its communicator, and call what the program has attached to that: not here. MPI
// forbids to free such a request while it is active; a token that does not last is lost then.
void NonblockingRequest::dispose() noexcept {
  if (has_lasting_token())
    give_back(*this);
  else
    take_token(token());
}

}  // namespace hocket::interpose
