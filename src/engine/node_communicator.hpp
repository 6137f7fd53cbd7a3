// A communicator whose ranks share this node's arena.
#pragma once

#include <array>
#include <vector>

#include "engine/call_marks.hpp"
#include "engine/communicator.hpp"
#include "engine/deciding_communicator.hpp"
#include "engine/guard.hpp"
#include "engine/handover/handed_starts.hpp"
#include "engine/nonblocking.hpp"
#include "engine/path_runner.hpp"
#include "engine/plans.hpp"
#include "engine/prepared.hpp"
#include "engine/single_copy.hpp"
#include "engine/size_samples.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

class NodeCommunicator final : public DecidingCommunicator<NodeCommunicator> {
 public:
  NodeCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members, Rank rank,
                   std::byte* lines);
  ~NodeCommunicator() override;

  Outcome carry_out(const Call& call) noexcept override;
  void ended() noexcept override;
  void mark_native(Function function) noexcept override;
  void give_up(const std::string& reason) noexcept override {
    guard_.fail(channel_.instance() + 1, Status::no_memory, reason);
  }
  std::string error() const override { return guard_.error(); }

  Prepared* prepare(const Call& call, Form form) noexcept override;
  bool is_up_to_date(const Prepared& prepared) const noexcept override {
    return prepared.found_out == found_out_;
  }
  std::unique_ptr<Prepared> prepare_persistent(const Call& call) noexcept override;
  Outstanding* start(Prepared& prepared, const Call& call) noexcept override;

 private:
  friend class DecidingCommunicator<NodeCommunicator>;

  /// The call under way.
  struct Turn {
    const Path* path = nullptr;
    std::uint32_t signature = 0;
    CallMark mark;
    std::uint32_t first_instance = 0;  ///< of the channel; large calls take several
    bool timed = false;
    std::uint64_t started_ns = 0;
    Trial* trial = nullptr;  ///< that wants this call's time
    std::size_t tried = 0;   ///< the path's number in it
  };

  /// What a trial tries.
  struct Contender {
    tuning::Choice choice;
    bool lends = false;
  };
  struct Contenders {
    std::array<Contender, Trial::most_paths> all;
    std::size_t count = 0;
    void add(const Contender& contender) { all[count++] = contender; }
  };

  // node_communicator.cpp
  bool failed() const noexcept { return guard_.failed(); }
  const Path& take_turn(Decision& decision) noexcept;
  const Path& choose_tried(Decision& decision) noexcept;
  Outcome leave_to_mpi(const Path& path, const Call& call) noexcept;
  Outcome follow(const Path& path, const Call& call) noexcept;
  void report_failure(Status status) noexcept;

  Starts& starts_of(const Prepared& prepared);

  // node_communicator_paths.cpp
  Decision* decision_about(const Call& call) noexcept;                      ///< null: no memory
  Decision* sampled_decision(const Call& call) noexcept;                    ///< null: no memory
  Decision* decision_for(const CallKind& kind, const Call& call) noexcept;  ///< null: no memory
  Decision* decide_anew(const CallKind& kind, const Call& call) noexcept;   ///< null: no memory
  bool is_current(const Decision& decision, const CallKind& kind) const noexcept;
  void decide(Decision& decision, const Call& call);
  tuning::Situation situation_of(const CallKind& kind, const Call& call) const;
  Path path_for(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  Path path_of(const Contender& contender, const CallKind& kind, const Call& call);
  Path flat_path(const CallKind& kind, const Call& call, const tuning::Choice& choice) const;
  Plans::Shared plan_for(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  Path planned(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  Path native(const CallKind& kind, std::string_view reason);
  void begin_trial(Decision& decision, const Call& call, const tuning::Situation& situation,
                   const tuning::Choice& ruled);
  Contenders contenders(const Call& call, const tuning::Situation& situation,
                        const tuning::Choice& ruled) const;
  bool decide_for_worker(Prepared& prepared, const Call& call);
  std::unique_ptr<Starts> new_handed_starts(std::uint32_t request);
  void decide_on_lane(Prepared& prepared, const Call& call);
  tuning::Choice choice_on_lane(Form form, const Call& call, const tuning::Situation& situation) const;
  Path path_on_lane(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  std::unique_ptr<NonblockingLane> open_lane(std::uint32_t number);
  void open_starts_for(Prepared& prepared);
  void open_own_starts(Prepared& prepared);

  Engine& engine_;
  const SlotKey key_;
  std::vector<Rank> members_;
  Guard guard_;
  transports::shm::Channel channel_;
  SingleCopy single_copy_;
  PathRunner runner_;
  Plans plans_;
  Decisions decisions_;
  std::array<Decision*, function_count> sampled_{};  ///< the last ones of functions without known sizes
  Turn turn_;
  Trials trials_;
  SizeSamples size_samples_;
  OwnRows rows_;
  PreparedCalls prepared_;
  std::unique_ptr<NonblockingLane> lane_;  ///< from the first non-blocking call on
  std::unique_ptr<Starts> handed_;         ///< of what the node's worker carries out, once there is any
  std::uint32_t persistent_requests_ = 0;  ///< that were not left to the MPI
  /// Grows when blocking calls find something out that non-blocking ones are decided by: in the same call on
  /// all ranks.
  std::uint32_t found_out_ = 0;
  const bool timed_;  ///< a report was asked for
};

extern template class DecidingCommunicator<NodeCommunicator>;

}  // namespace hocket::engine
