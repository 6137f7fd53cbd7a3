// One operation on a communicator's lane by an interpreted plan, in as many segments as its data need.
#pragma once

#include <optional>
#include <vector>

#include "engine/call.hpp"
#include "engine/input_copy.hpp"
#include "engine/nonblocking.hpp"
#include "executors/machine.hpp"
#include "transports/shm/lane_staging.hpp"

namespace hocket::engine {

class LaneOperation final : public Outstanding {
 public:
  LaneOperation(NonblockingLane& lane, std::size_t place) : lane_(lane), place_(place) {}

  /// Among those that the lane has made.
  std::size_t place() const noexcept { return place_; }

  /// Takes its instances. Throws std::bad_alloc.
  void prepare(const Prepared& prepared, const Call& call);

  Status advance() noexcept override;
  transports::Blocker blocker() noexcept override;
  const transports::Waiting& waiting() const noexcept override;
  Needs needs() const noexcept override;
  void fail(Status status) noexcept override;
  void release() noexcept override;

 private:
  using Ticket = transports::shm::Lane::Ticket;
  enum class Stage : std::uint8_t {
    waiting_for_memory,  ///< that earlier operations still use on some rank
    running,             ///< the segment at tickets_[segment_]
  };

  bool is_stream() const noexcept { return !path_->plan->one_sided(); }
  void take_tickets();
  bool may_begin() noexcept;
  void begin_segment() noexcept;
  bool end_segment() noexcept;

  NonblockingLane& lane_;
  const std::size_t place_;
  const Path* path_ = nullptr;
  std::uint32_t signature_ = 0;
  Call call_;
  const executors::Operation* op_ = nullptr;  ///< the call, or the same with its input copied
  InputCopy input_copy_;

  std::vector<Ticket> tickets_;  ///< one per segment
  std::size_t segment_ = 0;
  Stage stage_ = Stage::waiting_for_memory;
  std::uint32_t stream_turn_ = 0;

  transports::shm::LaneStaging staging_;
  executors::Workspace workspace_;
  std::optional<executors::Binding> binding_;
  std::optional<executors::Machine> machine_;
  std::size_t segment_bytes_ = 0;
};

}  // namespace hocket::engine
