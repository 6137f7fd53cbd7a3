// Collectives among the members of a group of the network, over messages instead, one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/message_run.hpp"
#include "engine/plans.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::engine::aggregation {

using ir::Rank;

class MemberRuns {
 public:
  /// `members`: their ranks in the world, in the group's order; `rank` is one among them.
  MemberRuns(transports::mpi::Network& network, const transports::mpi::CommunicatorId& id,
             std::vector<Rank> members, Rank rank)
      : members_(std::move(members)), rank_(rank), messages_(network, id, members_) {}

  Rank ranks() const noexcept { return static_cast<Rank>(members_.size()); }
  Rank rank() const noexcept { return rank_; }
  std::span<const Rank> world() const noexcept { return members_; }

  /// What is laid from now on is part of the members' operation of this number. `call`: for errors.
  void begin(std::uint32_t number, const transports::mpi::CallWords& call) noexcept {
    messages_.begin(number, signature, call);
  }
  /// The next one, which belongs to the caller. `operation` outlives it. Throws std::bad_alloc.
  executors::Machine& lay(std::string_view algorithm, const executors::Operation& operation) {
    ir::Request request;
    request.collective = operation.collective;
    request.ranks = ranks();
    request.rank = rank_;
    request.root = operation.root;
    request.commutative = operation.reduction.commutative;
    plan_ = plans_.get(passes::plain(*algorithms::find(operation.collective, algorithm)), request);
    run_.lay(*plan_, operation, messages_);
    return *run_;
  }
  transports::mpi::Messages& messages() noexcept { return messages_; }

 private:
  /// The calls have been compared before a group does anything.
  static constexpr std::uint32_t signature = 1;

  const std::vector<Rank> members_;
  const Rank rank_;
  transports::mpi::Messages messages_;
  Plans plans_;
  Plans::Shared plan_;
  MessageRun run_;
};

}  // namespace hocket::engine::aggregation
