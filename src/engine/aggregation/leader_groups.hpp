// The groups of leaders of one communicator, by who is in them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/aggregation/leader_group.hpp"

namespace hocket::engine::aggregation {

class LeaderGroups {
 public:
  /// `members` of the communicator, as ranks of the world, `rank` among them; its messages travel under `id`.
  /// All outlive it.
  LeaderGroups(Service& service, transports::mpi::Network& network, const transports::mpi::CommunicatorId& id,
               std::span<const Rank> members, Rank rank)
      : service_(service), network_(network), id_(id), members_(members), rank_(rank) {}

  /// `names` in the communicator; this rank is one of them. Throws std::bad_alloc.
  LeaderGroup& of(const std::vector<Rank>& names);
  std::uint64_t patience_ns() const noexcept;

 private:
  struct Known {
    std::vector<Rank> names;
    std::unique_ptr<LeaderGroup> group;
  };

  Service& service_;
  transports::mpi::Network& network_;
  const transports::mpi::CommunicatorId id_;
  const std::span<const Rank> members_;
  const Rank rank_;
  std::vector<Known> known_;
};

}  // namespace hocket::engine::aggregation
