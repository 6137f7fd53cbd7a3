// What hands a communicator's non-blocking operations to the node's worker, or the starts of one of its
// persistent requests. Calls with the buffers of an earlier one are known to the worker by number.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "engine/function_table.hpp"
#include "engine/handover/employer.hpp"
#include "engine/handover/handed_operation.hpp"
#include "engine/handover/registry.hpp"
#include "engine/handover/takeover.hpp"
#include "engine/plans.hpp"
#include "engine/prepared.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine::handover {

/// What workers carry out: schedules of messages. But no reduction by the program's own function, and not
/// what leaders have to be told of before (engine/sizes_ahead.hpp).
inline bool is_for_workers(const tuning::Choice& choice, const Call& call) {
  return !choice.is_native() && choice.recipe.algorithm->access == algorithms::Access::two_sided &&
         (choice.recipe.by.empty() || sizes_known(call.function)) && !has_own_operation(call);
}

class HandedStarts final : public Starts, private Registry::Entry {
 public:
  static constexpr std::size_t most_known = 128;

  /// `request`: 0, or of a persistent request among all of the communicator's, counted from 1.
  HandedStarts(std::unique_ptr<Employer> employer, Client& client, std::uint32_t request);
  ~HandedStarts() override;
  HandedStarts(const HandedStarts&) = delete;
  HandedStarts& operator=(const HandedStarts&) = delete;

  Outstanding* start(const Prepared& prepared, const Call& call) noexcept override;

  // HandedOperation calls these.
  Employer& employer() noexcept { return *employer_; }
  Client& client() noexcept { return client_; }
  void give_back(HandedOperation& operation) noexcept {
    unused_.push_back(&operation);
    employer_->report().set_mapped_buffers(client_.mapped_buffers());
    stall_is_reported_ = false;
  }
  /// Once, until one has ended.
  void report_stall(const CallTurn& turn, std::uint64_t waited_ns) noexcept;
  /// A worker has gone: the ranks go on by themselves, and tell each other what has ended. False: this MPI
  /// does not let them, and the communicator has failed.
  bool take_over() noexcept;
  const Takeover* takeover() const noexcept { return takeover_.get(); }
  /// Since the ranks tell each other.
  std::uint64_t waits_for_others_ns() const noexcept { return monotonic_ns() - takeover_began_ns_; }
  /// A rank has not said for long which operations have ended.
  void fail_for_silence() noexcept;
  SpreadOperation& unused_alone();
  Path path_alone(const Prepared& prepared, const Call& call);

 private:
  struct Known {
    std::uint64_t hash;
    Bytes definition;  ///< with 0 for its number
    std::uint32_t number;
  };
  using Recent = std::list<Known>;  ///< the last used first

  const Registry::Id& id() const noexcept override { return id_; }
  void hear(Rank from, const Account& account) noexcept override;

  void open();
  std::uint32_t number_of(const Prepared& prepared, const Call& call);
  std::uint32_t remember(std::uint64_t hash, Bytes definition, Define& define);
  void forget_oldest();
  HandedOperation& unused();
  void tell(const Bytes& command);
  void hand_over(HandedOperation& operation, const Prepared& prepared, const Call& call);
  void say_what_has_ended();

  const std::unique_ptr<Employer> employer_;
  Client& client_;
  const Employer::Id id_;           ///< under which their messages travel, and
  const Employer::Id alone_id_;     ///< those of the ranks
  std::uint32_t communicator_ = 0;  ///< 0: the worker does not know it yet
  CallSequence sequence_;
  Recent recent_;
  std::unordered_map<std::uint64_t, Recent::iterator> by_hash_;
  std::vector<HandedOperation*> unused_;
  std::vector<std::unique_ptr<HandedOperation>> operations_;

  bool stall_is_reported_ = false;
  std::unique_ptr<Takeover> takeover_;
  std::uint64_t takeover_began_ns_ = 0;
  Plans plans_;  ///< of what the ranks carry out
  SpreadOperation::Unused unused_alone_;
  std::vector<std::unique_ptr<SpreadOperation>> alone_;
};

}  // namespace hocket::engine::handover
