// One operation on a communicator's lane by an interpreted plan, in as many segments as its data need. Where
// it is not known yet whether the ranks read each other's memory, it prepares for both answers.
#pragma once

#include <vector>

#include "engine/call.hpp"
#include "engine/input_copy.hpp"
#include "engine/nonblocking.hpp"
#include "engine/renewed.hpp"
#include "executors/machine.hpp"
#include "transports/cma/exposed_memory.hpp"
#include "transports/shm/lane_staging.hpp"

namespace hocket::engine {

class LaneOperation final : public Outstanding {
 public:
  LaneOperation(NonblockingLane& lane, std::size_t place);

  /// Among those that the lane has made.
  std::size_t place() const noexcept { return place_; }

  /// Takes its instances. Throws std::bad_alloc.
  void prepare(const Prepared& prepared, const Call& call);

  Status advance() noexcept override;
  transports::Blocker blocker() noexcept override;
  const transports::Waiting& waiting() const noexcept override;
  std::size_t progress() const noexcept override;
  Needs needs() const noexcept override;
  void fail(Status status) noexcept override;
  void release() noexcept override;

 private:
  using Ticket = transports::shm::Lane::Ticket;
  enum class Stage : std::uint8_t {
    waiting_for_line,    ///< that earlier operations still use; this and the next only if there is a choice
    choosing,            ///< here, as everybody has to be for the choice
    waiting_for_memory,  ///< that earlier operations still use on some rank
    running,             ///< the segment at tickets_[segment_]
  };

  bool is_stream() const noexcept { return !path_->plan->one_sided(); }
  bool has_choice() const noexcept { return single_copy_ != nullptr; }
  void fit(const Path& path);
  const executors::Operation& operation_for(const Path& path) noexcept;
  void follow(const Path& path) noexcept;
  void take_tickets();
  bool arrive() noexcept;
  bool choose() noexcept;
  void read_peers() noexcept;
  bool has_turn() const noexcept;
  bool may_begin() noexcept;
  void begin_segment() noexcept;
  bool end_segment() noexcept;

  NonblockingLane& lane_;
  const std::size_t place_;
  const Path* path_ = nullptr;
  const Path* single_copy_ = nullptr;  ///< the other one to choose
  std::uint32_t signature_ = 0;
  Call call_;
  const executors::Operation* copied_ = nullptr;  ///< the same with its input copied, if a path needs that
  const executors::Operation* op_ = nullptr;      ///< one of both
  InputCopy input_copy_;

  std::vector<Ticket> tickets_;  ///< one per segment
  std::uint32_t unused_ = 0;     ///< further ones, taken before the choice
  std::size_t segment_ = 0;
  Stage stage_ = Stage::waiting_for_memory;
  std::uint32_t stream_turn_ = 0;

  transports::shm::LaneStaging staging_;
  transports::cma::ExposedMemory<transports::shm::LaneStaging> exposed_;
  executors::Workspace workspace_;
  Renewed<executors::Binding> binding_;
  Renewed<executors::Machine> machine_;
  std::size_t segment_bytes_ = 0;
};

}  // namespace hocket::engine
