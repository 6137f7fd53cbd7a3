// One operation of a communicator over several nodes: a schedule of messages, under way.
#pragma once

#include "engine/aggregation/aggregations.hpp"
#include "engine/call.hpp"
#include "engine/input_copy.hpp"
#include "engine/message_run.hpp"
#include "engine/outstanding.hpp"
#include "engine/path.hpp"
#include "engine/sizes_ahead.hpp"
#include "engine/spread_guard.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::engine {

/// What all operations of one communicator have in common.
struct SpreadGround {
  transports::mpi::Network& network;
  SpreadGuard& guard;
  transports::WaitMode wait_mode;
  const Host& host;
  std::span<const Rank> members;
  std::shared_ptr<aggregation::Service> in_network;  ///< null: there is no network that reduces
};

/// Of the calls of this kind whose messages travel under `id`; nothing where no network reduces.
std::optional<aggregation::LeaderGroups> leaders_of(const SpreadGround& ground, const SpreadGuard::Id& id,
                                                    aggregation::LeaderGroups::Kind kind, Rank rank);

class SpreadOperation final : public Outstanding, private transports::Watch {
 public:
  /// Where the operation returns to; null for that of the communicator's blocking calls.
  using Unused = std::vector<SpreadOperation*>;

  /// Waking and asking the MPI takes some 0.1 ms: each millisecond, by 64 ranks on two cores, that was all of
  /// them.
  static constexpr std::uint64_t longest_sleep_ns = 10'000'000;

  /// `id`: under which its messages travel. `leaders`: of calls of its kind; null where no network reduces.
  SpreadOperation(const SpreadGround& ground, const SpreadGuard::Id& id, aggregation::LeaderGroups* leaders,
                  Unused* unused = nullptr)
      : ground_(ground),
        leaders_(leaders),
        unused_(unused),
        waiting_{ground.wait_mode,          ground.host.poke,       ground.host.context, this,
                 ground.network.sleepers(), transports::few_yields, longest_sleep_ns},
        messages_(ground.network, id, ground.members, !unused) {}

  /// `signature`: of this call and all before it. Throws std::bad_alloc; no longer once it is warm.
  void prepare(const Path& path, const Call& call, const SpreadGuard::Turn& turn, std::uint32_t signature);

  Status advance() noexcept override;
  transports::Blocker blocker() noexcept override {
    return is_leaving_ ? aggregations_.blocker() : run_->blocker();
  }
  const transports::Waiting& waiting() const noexcept override { return waiting_; }
  Needs needs() const noexcept override { return has_own_operation(call_) ? Needs::program : Needs::mpi; }
  std::size_t progress() const noexcept override {
    return progress_before_ + run_->progress() + (is_leaving_ ? aggregations_.progress() : 0);
  }
  void fail(Status status) noexcept override;
  void release() noexcept override {
    if (unused_) unused_->push_back(this);
  }

  /// To its end, waiting.
  Status run() noexcept;

 private:
  void lay(const executors::Plan& plan, const executors::Operation& op) {
    run_.lay(plan, op, messages_, plan.aggregates() ? &aggregations_ : nullptr);
  }
  Status leave() noexcept;
  Status follow_up() noexcept;
  Status small_blocks();
  template <class Run>
  Status in_parts(Run run) noexcept;
  Status look(Rank peer, std::uint64_t waited_ns) noexcept override {
    return ground_.guard.look(turn_, long_wait_, messages_, peer, waited_ns);
  }

  const SpreadGround& ground_;
  aggregation::LeaderGroups* const leaders_;
  Unused* unused_;
  const transports::Waiting waiting_;
  transports::mpi::Messages messages_;
  SpreadGuard::Turn turn_;
  SpreadGuard::Wait long_wait_;
  Call call_;
  InputCopy input_copy_;
  /// What runs now, of a call whose sizes go ahead; of all others the last.
  enum class Part : std::uint8_t { sizes, small_blocks, last };
  Part part_ = Part::last;
  std::size_t progress_before_ = 0;  ///< in the parts that have ended
  const AheadPlan* ahead_ = nullptr;
  const executors::Plan* plan_ = nullptr;
  const executors::Operation* op_ = nullptr;
  SizesAhead sizes_;
  MessageRun run_;
  aggregation::Aggregations aggregations_;
  bool is_leaving_ = false;  ///< its schedule has ended, and the leaders tell each other
};

}  // namespace hocket::engine
