// One operation on a communicator's lane by a compiled plan: one instance, whose publish half runs as soon as
// the instance's memory is free, and whose take half is asked until everyone has published.
#pragma once

#include <vector>

#include "engine/call.hpp"
#include "engine/nonblocking.hpp"

namespace hocket::engine {

class LaneFlatOperation final : public Outstanding {
 public:
  LaneFlatOperation(NonblockingLane& lane, std::size_t place);

  /// Among those that the lane has made.
  std::size_t place() const noexcept { return place_; }

  /// Takes its instance. The call outlives the operation.
  void prepare(const Prepared& prepared, const Call& call) noexcept;

  Status advance() noexcept override;
  transports::Blocker blocker() noexcept override;
  const transports::Waiting& waiting() const noexcept override;
  bool has_given() const noexcept override { return published_; }
  Needs needs() const noexcept override;
  void fail(Status status) noexcept override;
  bool repeat() noexcept override;
  void release() noexcept override;

 private:
  void take_ticket() noexcept;
  bool publish() noexcept;
  compiled::StartedFlatCall flat_call() noexcept;

  NonblockingLane& lane_;
  const std::size_t place_;
  const Path* path_ = nullptr;
  std::uint32_t signature_ = 0;
  const Call* call_ = nullptr;
  CallMark mark_;
  transports::shm::Lane::Ticket ticket_;
  bool published_ = false;
  std::vector<const void*> sources_;  ///< room for one per rank
};

}  // namespace hocket::engine
