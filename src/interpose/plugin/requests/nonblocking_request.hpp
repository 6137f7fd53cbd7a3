// A non-blocking collective that Hocket runs. Requests whose tokens last are used again, with what they have
// grown to.
#pragma once

#include "interpose/plugin/requests/request.hpp"

namespace hocket::interpose {

class NonblockingRequest final : public Request {
 public:
  NonblockingRequest() : Request(Starts::once) {}
  /// It has been started. Under the progress lock.
  void begin();

  int consume(MPI_Request* handle) noexcept override;
  /// An error: it is not a persistent one.
  int activate() noexcept override;
  int forget(MPI_Request* handle) noexcept override;

 private:
  friend class UnusedRequests;
  friend void give_back(NonblockingRequest& request) noexcept;
  bool may_stand_aside() const noexcept;
  void dispose() noexcept override;

  NonblockingRequest* next_unused_ = nullptr;
};

/// For one operation on this communicator. Under the progress lock. Throws std::bad_alloc.
NonblockingRequest& take_request(const Communicator& communicator);
/// From anywhere, also from within the MPI.
void give_back(NonblockingRequest& request) noexcept;
/// The communicator that the tokens are on is about to end.
void free_unused_requests() noexcept;

}  // namespace hocket::interpose
