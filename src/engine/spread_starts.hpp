// What numbers the non-blocking operations of a communicator over several nodes, or the starts of one of its
// persistent requests: ranks start those in different orders, so that each has messages of its own.
#pragma once

#include <memory>
#include <vector>

#include "engine/prepared.hpp"
#include "engine/spread_guard.hpp"
#include "engine/spread_operation.hpp"

namespace hocket::engine {

/// Calls that come in the same order on all ranks.
struct CallSequence {
  std::uint32_t number = 0;   ///< of calls so far, whoever ran them
  std::uint32_t history = 0;  ///< signatures of those that were run here, so that calls that differed while
                              ///< nobody exchanged anything are noticed later

  /// One bit is left: blocking calls, or not.
  std::uint32_t next() noexcept { return number = (number + 1) & 0x7fffffffU; }
  void add(std::uint32_t signature) noexcept { history = (history ^ signature) * 0x9e3779b1U; }
};

class SpreadStarts final : public Starts {
 public:
  /// `request`: 0, or of a persistent request among all of the communicator's, counted from 1.
  SpreadStarts(const SpreadGround& ground, std::uint32_t request);

  Outstanding* start(const Prepared& prepared, const Call& call) noexcept override;

 private:
  SpreadOperation& unused();

  const SpreadGround& ground_;
  const SpreadGuard::Id id_;
  CallSequence sequence_;
  SpreadOperation::Unused unused_;
  std::vector<std::unique_ptr<SpreadOperation>> operations_;
};

}  // namespace hocket::engine
