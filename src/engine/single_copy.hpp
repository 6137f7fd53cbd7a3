// Whether the ranks of a communicator read each other's memory (transports/cma): found out when the first
// large call could profit, and agreed among them without a wait and without a call of the MPI.
//
// There are three stages, some calls apart (transports/shm/notice.hpp). In the first call that could
// profit (a) everybody publishes its card; then (b) everybody has the cards of all, tests them, and votes;
// then (c) everybody has the votes of all and comes to the same answer. docs/design/0005-single-copy.md says
// why this and not a meeting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/guard.hpp"
#include "transports/cma/card.hpp"
#include "transports/cma/peer_memory.hpp"
#include "transports/shm/notice.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

/// Below, the staging buffers are always better: a system call costs more than both copies.
inline constexpr std::size_t least_single_copy_bytes = 64 * 1024;

/// From how many bytes on a message pays that is read where it is, by HOCKET_CMA. Null: nobody is to read
/// others' memory.
std::optional<std::size_t> least_loan(const std::string& wish) noexcept;

class SingleCopy {
 public:
  /// `members`: world ranks. Both outlive it.
  SingleCopy(Engine& engine, std::span<const Rank> members, transports::shm::Channel& channel)
      : engine_(engine), members_(members), channel_(channel) {}

  /// Could a call like this profit? By what all ranks know alike.
  bool concerns(const tuning::Situation& situation) const noexcept;

  /// The answer for the communicator's next call, which concerns it. All ranks ask at the same calls; at
  /// which, may_change says. May wait for a rank that is far behind. Throws std::bad_alloc.
  bool holds(ir::Collective collective);

  /// Settled, and all ranks can read all others.
  bool is_possible() const noexcept { return possible_; }

  /// Answers from now on are all the same.
  bool settled() const noexcept { return stage_ == Stage::settled; }
  /// The answers for blocking calls and for operations on a lane, once they are settled.
  bool was_found_for(ir::Collective collective) const noexcept { return suffices(agreed_, collective); }
  bool was_found_on_lane_for(const tuning::Situation& situation) const noexcept {
    return suffices_on_lane(agreed_, {situation.collective, situation.ranks, situation.bytes});
  }

  /// An answer from before it was settled may be another one for a call of this number.
  bool may_change(std::uint32_t instance) const noexcept {
    return settled() || last_stage_.is_due_before(instance);
  }

  /// The ranks' memory. Throws std::bad_alloc.
  transports::cma::PeerMemory peers() const;
  std::optional<std::size_t> least_loan() const noexcept { return engine::least_loan(engine_.options().cma); }

  static bool suffices(transports::cma::Gain gain, ir::Collective collective) noexcept;
  /// What all ranks know of a call on a lane.
  struct OnLane {
    ir::Collective collective;
    Rank ranks;
    std::size_t bytes;
  };
  static bool suffices_on_lane(transports::cma::Gain gain, const OnLane& call) noexcept;

  // For those that agree in another way (lane_votes.hpp). Any thread may ask.
  /// Publishes this rank's card; what this rank found out by those of all, 0 while one is missing.
  std::uint32_t vote_when_possible() const noexcept;
  /// What that rank's vote says; the first who reads of a refusal notes it in the report.
  transports::cma::Gain gain_of(Rank rank, std::uint32_t vote) const noexcept;

  /// Gives the communicator up in the call of this number, since a read did not work.
  static void report(const transports::cma::ReadFailure& failure, Guard& guard, std::uint32_t call) noexcept;

 private:
  enum class Stage : std::uint8_t { asleep, published, voted, settled };

  void advance();
  std::uint32_t own_vote() const;
  void settle();
  transports::cma::Gain measured_gain() const;
  std::vector<transports::cma::CardMemory> cards() const;
  std::string reason(Rank rank, std::uint32_t vote) const;
  static std::string explain(const transports::cma::ReadFailure& failure);
  transports::cma::CardMemory card_of(Rank rank) const {
    return engine_.arena()->card_of(members_[static_cast<std::size_t>(rank)]);
  }

  Engine& engine_;
  std::span<const Rank> members_;
  transports::shm::Channel& channel_;
  Stage stage_ = Stage::asleep;
  transports::shm::Notice last_stage_;
  transports::cma::Gain agreed_ = transports::cma::Gain::unknown;
  bool possible_ = false;
};

}  // namespace hocket::engine
