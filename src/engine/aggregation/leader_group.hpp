// The leaders of a communicator who aggregate together, as one of them sees them: their group in the network
// while there is one, and their messages.
//
// Their operations have the numbers in which all of them start them, and take turns: one is over, and all
// have heard the same of it, before the next one goes to the network. So all of them try a new group in the
// same operations, without a word about it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/aggregation/joining.hpp"
#include "engine/aggregation/member_runs.hpp"
#include "engine/aggregation/relay.hpp"
#include "offload/group.hpp"

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
  LeaderGroup(std::shared_ptr<Service> service, transports::mpi::Network& network, LeaderNames leaders);
  ~LeaderGroup();
  LeaderGroup(const LeaderGroup&) = delete;
  LeaderGroup& operator=(const LeaderGroup&) = delete;

  MemberRuns& members() noexcept { return members_; }
  Relay& relay() noexcept { return relay_; }
  /// A rank of the communicator among the members; -1: it is none, or everyone.
  Rank index_of(Rank name) const noexcept;
  Rank name_of(Rank member) const noexcept;

  /// Of an operation that is started.
  std::uint32_t take_number() noexcept { return ++numbers_; }
  bool is_turn_of(std::uint32_t number) const noexcept { return number == over_ + 1; }
  /// Its turn begins.
  void enter(const transports::mpi::CallWords& call) noexcept;
  /// Then, before anything else: makes a group of the network, if it is time to. Pending, ok whatever came of
  /// it, or an error of messages.
  Status join() noexcept;
  /// Over messages, under way in join(); null: nothing is.
  const executors::Machine* joining_run() const noexcept { return joining_ ? joining_->run() : nullptr; }
  /// Null: there is none, or it is gone.
  offload::Group* network() noexcept { return group_.get(); }
  /// It has failed, or does not answer: what was pending in it touches no memory any more.
  void lose(const std::string& why) noexcept;
  /// The turn is over. `lost`: by any member, as all have heard. `repaired`: by messages, for this one at
  /// least.
  void leave(bool lost, bool repaired) noexcept;

 private:
  friend class Room;

  /// Groups that a member releases before it does without.
  static constexpr std::uint32_t most_tries = 4;
  static constexpr std::uint32_t shortest_pause = 4;
  static constexpr std::uint32_t longest_pause = 1024;

  bool is_time_to_join() const noexcept { return !agreed_ && over_ + 1 >= next_try_; }
  bool try_again(offload::GroupOrReason& of_thread) noexcept;
  void put_off() noexcept;

  const std::shared_ptr<Service> service_;
  const std::vector<Rank> names_;
  MemberRuns members_;
  Relay relay_;
  std::optional<Joining> joining_;
  std::unique_ptr<offload::Group> group_;
  bool agreed_ = false;  ///< all members had one when they last heard of each other
  bool in_use_ = false;  ///< by an operation: nobody may take it away
  std::uint32_t numbers_ = 0;
  std::uint32_t over_ = 0;
  std::uint32_t tries_ = 0;  ///< in this operation
  std::uint32_t next_try_ = 1;
  std::uint32_t made_in_ = 0;             ///< operation
  std::uint32_t pause_ = shortest_pause;  ///< operations between the last two in which it was tried
};

}  // namespace hocket::engine::aggregation
