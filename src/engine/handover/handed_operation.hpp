// An operation that the node's worker carries out: the rank looks at one word. When a worker has gone, the
// ranks carry it out themselves.
#pragma once

#include <cstdint>

#include "engine/handover/client.hpp"
#include "engine/handover/employer.hpp"
#include "engine/handover/word.hpp"
#include "engine/input_copy.hpp"
#include "engine/outstanding.hpp"
#include "engine/prepared.hpp"
#include "engine/spread_operation.hpp"

namespace hocket::engine::handover {

class HandedStarts;

class HandedOperation final : public Outstanding, private transports::Watch {
 public:
  explicit HandedOperation(HandedStarts& starts);

  /// Of what is started, and outlives it; start() or start_alone() follows. Throws std::bad_alloc.
  void prepare(const Prepared& prepared, const Call& call, const CallTurn& turn, std::uint32_t signature);
  /// False: the worker cannot be told. Throws std::bad_alloc.
  bool start(std::uint32_t definition);
  /// Among the ranks. Throws std::bad_alloc.
  void start_alone();

  Status advance() noexcept override;
  transports::Blocker blocker() noexcept override;
  const transports::Waiting& waiting() const noexcept override;
  std::size_t progress() const noexcept override { return alone_ ? alone_->progress() : 0; }
  /// Nobody has to go on with it while the worker does; but it has to hear of failures.
  Needs needs() const noexcept override { return Needs::mpi; }
  bool has_given() const noexcept override { return stage_ == Stage::at_worker && word_; }
  void fail(Status status) noexcept override;
  void release() noexcept override;

  /// A worker is to be relied on no more, and this rank's touches its buffers no more when this returns.
  void withdraw() noexcept;
  /// It may have to be carried out by the ranks.
  bool is_unfinished() const noexcept { return stage_ == Stage::withdrawn; }
  std::uint32_t number() const noexcept { return turn_.number; }

 private:
  enum class Stage : std::uint8_t {
    unused,
    prepared,
    at_worker,
    withdrawn,  ///< all ranks tell each other which operations have ended
    alone,
    ended,
  };

  bool hand_over();
  Status advance_at_worker() noexcept;
  Status advance_withdrawn() noexcept;
  Status look(Rank peer, std::uint64_t waited_ns) noexcept override;
  Status look_at_worker(std::uint64_t waited_ns) noexcept;
  Status look_at_others() const noexcept;
  void abandon() noexcept;

  HandedStarts& starts_;
  Employer& employer_;
  Client& client_;
  const transports::Waiting waiting_;
  Stage stage_ = Stage::unused;
  const Prepared* prepared_ = nullptr;
  Call call_;
  InputCopy input_copy_;
  CallTurn turn_;
  Start command_;
  Word word_;  ///< none: the worker does not know it
  SpreadOperation* alone_ = nullptr;
};

}  // namespace hocket::engine::handover
