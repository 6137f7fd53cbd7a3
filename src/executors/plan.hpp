// A schedule made ready to run many times: what its execution needs to know and can be worked out once.
#pragma once

#include <memory>
#include <vector>

#include "ir/schedule.hpp"
#include "transports/transport.hpp"

namespace hocket::executors {

struct Plan {
  ir::Schedule schedule;
  std::vector<ir::Window> staging;  ///< of every rank; empty if the schedule has none

  std::uint32_t staging_chunks = 0;         ///< the largest window over all ranks, planes included
  std::uint32_t most_transfers = 0;         ///< in one round
  std::uint32_t most_pieces = 0;            ///< in one round
  std::uint32_t most_sources = 0;           ///< of one reduction
  std::uint32_t most_aggregations = 0;      ///< under way at a time
  std::vector<std::uint32_t> aggregations;  ///< in all, of each group of the schedule
  bool single_copy = false;                 ///< reads peers' user memory, or lets them read this rank's

  /// Throws Error for what no executor does: reductions straight from peers' user memory, aggregations of
  /// several blocks.
  Plan(ir::Schedule schedule, std::vector<ir::Window> staging);

  bool one_sided() const { return staging_chunks > 0 || (most_transfers == 0 && !aggregates()); }
  /// Needs an aggregator.
  bool aggregates() const { return most_aggregations > 0; }
};

/// An aggregation that is under way.
struct Started {
  std::uint32_t group, step;
  bool settles = false;  ///< in this round
};

/// The private memory that running plans needs; grows to the needs of the largest plan, then serves all
/// without allocating.
struct Workspace {
  std::vector<transports::Transfer> transfers;
  std::vector<bool> is_send;
  std::vector<std::uint32_t> held;  ///< of each transfer: until so many recvs of the round have ended
  std::vector<transports::Piece> pieces;
  std::vector<const void*> sources;
  std::vector<Started> aggregations;

  void fit(const Plan& plan);
  /// Nobody touches it before the plan does: planes of which a plan uses a part cost that part.
  void fit_scratch(std::size_t bytes);
  std::byte* scratch() noexcept { return scratch_.get(); }

 private:
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace hocket::executors
