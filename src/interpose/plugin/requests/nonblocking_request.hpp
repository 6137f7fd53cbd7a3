// A non-blocking collective that Hocket runs. Requests whose tokens last are used again, with what they have
// grown to.
#pragma once

#include "interpose/plugin/requests/request.hpp"
#include "interpose/plugin/requests/same_call.hpp"

namespace hocket::interpose {

class NonblockingRequest final : public Request {
 public:
  NonblockingRequest() : Request(Starts::once) {}
  /// The call that it is about to be started for.
  template <class Described, class... A>
  void remember(A... arguments) noexcept {
    call_.remember<Described>(arguments...);
  }
  /// It has been started. Under the progress lock.
  void begin();

  /// It is kept, for the call before: whether this one is the same, and nothing speaks against another start.
  template <class Described, class... A>
  bool may_repeat(A... arguments) const noexcept {
    return call_.is<Described>(arguments...) && may_repeat();
  }
  /// Instead of start() and begin(). False: see Communicator::error(); it has been given back. Under the
  /// progress lock.
  bool begin_again();
  /// Is kept no longer, but given back. Under the progress lock.
  void let_go() noexcept;

  int consume(MPI_Request* handle) noexcept override;
  /// An error: it is not a persistent one.
  int activate() noexcept override;
  int forget(MPI_Request* handle) noexcept override;

 private:
  friend class UnusedRequests;
  friend void give_back(NonblockingRequest& request) noexcept;
  bool may_stand_aside() const noexcept;
  bool may_repeat() const noexcept;
  void dispose() noexcept override;

  SameCall call_;
  NonblockingRequest* next_unused_ = nullptr;
};

/// For one operation on this communicator. Under the progress lock. Throws std::bad_alloc.
NonblockingRequest& take_request(const Communicator& communicator);
/// From anywhere, also from within the MPI.
void give_back(NonblockingRequest& request) noexcept;
/// The communicator that the tokens are on is about to end.
void free_unused_requests() noexcept;

}  // namespace hocket::interpose
