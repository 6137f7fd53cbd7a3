// What the members of a group of the network say to each other while it is made: over messages, waiting.
#pragma once

#include "engine/aggregation/member_runs.hpp"
#include "offload/out_of_band.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine::aggregation {

class MessageBand final : public offload::OutOfBand {
 public:
  /// Of the operation that the members have begun. Both outlive it.
  MessageBand(MemberRuns& members, const transports::Waiting& waiting)
      : members_(members), waiting_(waiting) {}

  Status bcast(void* data, int bytes, int root) noexcept override;
  Status barrier() noexcept override;
  Status gather(int root, const void* sent, void* received, int bytes) noexcept override;

 private:
  Status run(std::string_view algorithm, const executors::Operation& operation) noexcept;

  MemberRuns& members_;
  const transports::Waiting& waiting_;
};

}  // namespace hocket::engine::aggregation
