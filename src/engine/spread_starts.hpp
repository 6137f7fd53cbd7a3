// What numbers the non-blocking operations of a communicator over several nodes, or the starts of one of its
// persistent requests: ranks start those in different orders, so that each has messages of its own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/call_turn.hpp"
#include "engine/prepared.hpp"
#include "engine/spread_guard.hpp"
#include "engine/spread_operation.hpp"

namespace hocket::engine {

class SpreadStarts final : public Starts {
 public:
  /// Of the communicator's rank `rank`. `request`: 0, or of a persistent request among all of its, counted
  /// from 1.
  SpreadStarts(const SpreadGround& ground, Rank rank, std::uint32_t request);

  Outstanding* start(const Prepared& prepared, const Call& call) noexcept override;

 private:
  SpreadOperation& unused();

  const SpreadGround& ground_;
  const SpreadGuard::Id id_;
  std::optional<aggregation::LeaderGroups> leaders_;
  CallSequence sequence_;
  SpreadOperation::Unused unused_;
  std::vector<std::unique_ptr<SpreadOperation>> operations_;
};

}  // namespace hocket::engine
