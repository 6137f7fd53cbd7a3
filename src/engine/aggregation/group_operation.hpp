// The aggregations of one operation in one group of leaders: in the network, and over messages where that has
// failed. For the rest of the schedule they always succeed.
//
// Sources are kept until all members have told each other what has ended: at the end of the operation, or as
// soon as one finds that the network has failed. docs/design/0019-offload.md says why no other agreement is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/aggregation/agreement.hpp"
#include "engine/aggregation/in_network.hpp"
#include "engine/aggregation/leader_group.hpp"
#include "engine/aggregation/repair.hpp"
#include "engine/aggregation/started.hpp"
#include "executors/aggregator.hpp"

namespace hocket::engine::aggregation {

class GroupOperation {
 public:
  /// Of so many aggregations at most; `call`: for errors. The group outlives it. Throws std::bad_alloc.
  void begin(LeaderGroup& group, const transports::mpi::CallWords& call, std::uint64_t patience_ns,
             std::size_t aggregations);

  /// As executors::Aggregator has it; but sources and targets stay until the operation has ended.
  Status start(const executors::Aggregation& what) noexcept;
  Status settle(std::uint32_t step) noexcept;
  /// Pending, where messages are under way. An error is the operation's.
  Status go_on() noexcept;
  /// After the last one was settled: until all members have theirs.
  Status finish() noexcept;
  /// The call has failed: nothing of it goes on.
  void abandon() noexcept;

  /// Something of it has not ended.
  bool is_pending() const noexcept;
  /// What a pending one waits for, among the communicator's ranks.
  transports::Blocker blocker() const noexcept;
  /// Grows as it goes on.
  std::size_t progress() const noexcept { return ended_ + repairs_; }

 private:
  enum class Stage : std::uint8_t {
    queued,   ///< behind the group's operations before it
    joining,  ///< a group is made, where there is none
    network,
    ending,    ///< the others hear what has ended here: told of all, or passed a small result on
    messages,  ///< do what has not
    is_over,   ///< a small result is with all
  };

  Status take_turn() noexcept;
  void post_all() noexcept;
  bool post(std::size_t number) noexcept;
  void look_at_network() noexcept;
  void give_up() noexcept;
  void begin_to_end() noexcept;
  Status pass_on() noexcept;
  Status tell() noexcept;
  Status repair_all() noexcept;
  void count_end(std::size_t number) noexcept;
  bool is_repaired() const noexcept;
  transports::Blocker named(transports::Blocker blocker) const noexcept;

  LeaderGroup* group_ = nullptr;
  transports::mpi::CallWords call_;
  std::uint32_t number_ = 0;
  Stage stage_ = Stage::queued;
  bool is_small_ = false;  ///< one aggregation, whose result is passed on
  bool is_lost_ = false;   ///< as all members know
  Status broken_ = Status::ok;
  std::vector<std::unique_ptr<Started>> all_;  ///< those that have been started, then those of earlier calls
  std::size_t expected_ = 0;                   ///< to be started, at most
  std::size_t started_ = 0;
  std::size_t ended_ = 0;  ///< in the network, here
  std::size_t repairs_ = 0;
  std::size_t next_repair_ = 0;
  InNetwork network_;
  executors::Machine* run_ = nullptr;  ///< over messages, under way
  Agreement told_;
  Repair repair_;
};

}  // namespace hocket::engine::aggregation
