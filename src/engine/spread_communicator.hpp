// A communicator whose ranks are on several nodes: schedules of sends and receives, carried by the MPI's own
// point-to-point.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/deciding_communicator.hpp"
#include "engine/plans.hpp"
#include "engine/prepared.hpp"
#include "engine/spread_guard.hpp"
#include "engine/spread_operation.hpp"
#include "engine/spread_starts.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

class SpreadCommunicator final : public DecidingCommunicator<SpreadCommunicator> {
 public:
  SpreadCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members, Rank rank);

  Outcome carry_out(const Call& call) noexcept override;
  void ended() noexcept override;
  Prepared* prepare(const Call& call, Form form) noexcept override;
  bool is_up_to_date(const Prepared&) const noexcept override { return true; }  // the rules alone decide
  std::unique_ptr<Prepared> prepare_persistent(const Call& call) noexcept override;
  Outstanding* start(Prepared& prepared, const Call& call) noexcept override;
  bool runs_over_mpi() const noexcept override { return true; }
  void mark_native(Function function) noexcept override;
  void give_up(const std::string& reason) noexcept override { guard_.fail(reason); }
  std::string error() const override { return guard_.error(); }

 private:
  friend class DecidingCommunicator<SpreadCommunicator>;

  Rank ranks() const noexcept { return static_cast<Rank>(members_.size()); }
  bool failed() noexcept { return guard_.failed(); }
  Decision* decision_about(const Call& call) noexcept;  ///< null: no memory
  void look_around();
  tuning::Situation situation_of(const CallKind& kind, const Call& call, bool blocking);
  Path path_for(const CallKind& kind, const Call& call, bool blocking);
  bool lacks_somebody(bool blocking) const;
  bool is_handed_over(const tuning::Choice& choice, const Call& call, bool blocking) const;
  Starts& starts_of(const Prepared& prepared);
  std::unique_ptr<Starts> new_starts(const Path& path, std::uint32_t request);
  const Path& take_turn(Decision& decision) noexcept;
  Outcome leave_to_mpi(const Path& path, const Call& call) noexcept;
  Outcome follow(const Path& path, const Call& call) noexcept;
  std::uint32_t signature_of_call(const CallKind& kind) const noexcept;
  void fail_without_memory(const SpreadGuard::Turn& turn) noexcept;

  Engine& engine_;
  const SlotKey key_;
  const std::vector<Rank> members_;
  const Rank rank_;
  SpreadGuard guard_;
  const SpreadGround ground_;
  std::shared_ptr<passes::Tables> tables_;  ///< from the first decision on, as
  std::optional<passes::Neighbourhood> near_;
  std::optional<tuning::Model> model_;
  Plans plans_;
  Decisions decisions_;
  OwnRows rows_;

  std::optional<aggregation::LeaderGroups> leaders_;  ///< of blocking calls, where a network reduces
  SpreadOperation operation_;                         ///< likewise
  CallSequence blocking_;
  const Decision* decision_ = nullptr;
  SpreadGuard::Turn turn_;
  std::uint64_t started_ns_ = 0;
  const bool timed_;  ///< a report was asked for

  PreparedCalls prepared_;
  SpreadStarts starts_;
  std::unique_ptr<Starts> handed_;         ///< of what the node's worker carries out, once there is any
  std::uint32_t persistent_requests_ = 0;  ///< that have been made
};

extern template class DecidingCommunicator<SpreadCommunicator>;

}  // namespace hocket::engine
