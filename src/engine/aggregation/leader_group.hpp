// The leaders of a communicator who aggregate together, as one of them sees them: their group in the network
// while there is one, and their messages.
//
// All members count their calls alike, and have heard the same of each: so they try a new group at the same
// calls, without a word about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/aggregation/member_runs.hpp"
#include "offload/group.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine::aggregation {

class Service;

/// Its messages travel under `id`.
struct LeaderNames {
  transports::mpi::CommunicatorId id;
  std::vector<Rank> names;  ///< in the communicator
  std::vector<Rank> world;  ///< the same ones in the world
  Rank own = 0;             ///< this one among them
};

class LeaderGroup {
 public:
  /// Both outlive it.
  LeaderGroup(Service& service, transports::mpi::Network& network, LeaderNames leaders);
  ~LeaderGroup();
  LeaderGroup(const LeaderGroup&) = delete;
  LeaderGroup& operator=(const LeaderGroup&) = delete;

  MemberRuns& members() noexcept { return members_; }
  /// A rank of the communicator among the members; -1: it is none, or everyone.
  Rank index_of(Rank name) const noexcept;
  Rank name_of(Rank member) const noexcept;

  /// A blocking call of all members begins. Makes a group of the network, if it is time to: waits for them.
  void enter(const transports::mpi::CallWords& call, const transports::Waiting& waiting) noexcept;
  /// Null: there is none, or it is gone.
  offload::Group* network() noexcept { return group_.get(); }
  /// It has failed, or does not answer: what was pending in it touches no memory any more.
  void lose(const std::string& why) noexcept;
  /// The call is over. `lost`: by any member, as all have heard.
  void leave(bool lost) noexcept;

 private:
  friend class Room;

  static constexpr std::uint32_t shortest_pause = 4;

  void make(const transports::Waiting& waiting);
  void put_off() noexcept;

  Service& service_;
  const std::vector<Rank> names_;
  MemberRuns members_;
  std::unique_ptr<offload::Group> group_;
  bool agreed_ = false;  ///< all members had one when they last heard of each other
  bool in_use_ = false;  ///< by a call: nobody may take it away
  std::uint32_t calls_ = 0;
  std::uint32_t next_try_ = 1;
  std::uint32_t made_at_ = 0;             ///< the call
  std::uint32_t pause_ = shortest_pause;  ///< calls between the last two tries
};

}  // namespace hocket::engine::aggregation
