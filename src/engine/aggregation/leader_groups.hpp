// The groups of leaders of one communicator, by who is in them. Blocking calls have groups of their own, and
// so have those that are started: each kind comes in one order on all ranks, but not both together.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/aggregation/leader_group.hpp"
#include "engine/aggregation/trace.hpp"

namespace hocket::engine::aggregation {

class LeaderGroups {
 public:
  enum class Kind : std::uint8_t { blocking, started };

  /// `members` of the communicator, as ranks of the world, `rank` among them, which outlive it; its messages
  /// travel under names made of `id` and `kind`.
  LeaderGroups(std::shared_ptr<Service> service, transports::mpi::Network& network,
               const transports::mpi::CommunicatorId& id, Kind kind, std::span<const Rank> members, Rank rank)
      : service_(std::move(service)),
        network_(network),
        id_(id),
        kind_(kind),
        members_(members),
        rank_(rank) {}

  /// `names` in the communicator; this rank is one of them. Throws std::bad_alloc.
  LeaderGroup& of(const std::vector<Rank>& names);
  std::uint64_t patience_ns() const noexcept;
  Trace* trace() const noexcept;  ///< null: none is asked for

 private:
  struct Known {
    std::vector<Rank> names;
    std::unique_ptr<LeaderGroup> group;
  };

  const std::shared_ptr<Service> service_;
  transports::mpi::Network& network_;
  const transports::mpi::CommunicatorId id_;
  const Kind kind_;
  const std::span<const Rank> members_;
  const Rank rank_;
  std::vector<Known> known_;
};

}  // namespace hocket::engine::aggregation
