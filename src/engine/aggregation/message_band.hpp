// What the members of a group of the network say to each other while it is made: over messages, waiting.
#pragma once

#include "engine/aggregation/member_runs.hpp"
#include "engine/aggregation/spoken.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine::aggregation {

class MessageBand final : public Spoken {
 public:
  /// Of the operation that the members have begun. Both outlive it.
  MessageBand(MemberRuns& members, const transports::Waiting& waiting)
      : members_(members), waiting_(waiting) {}

 private:
  Status say(std::string_view algorithm, const executors::Operation& operation) noexcept override;

  MemberRuns& members_;
  const transports::Waiting& waiting_;
};

}  // namespace hocket::engine::aggregation
