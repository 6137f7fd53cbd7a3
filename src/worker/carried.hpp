// A rank's operation, carried out by its worker: the schedule runs on the rank's buffers where both processes
// map them, or else on mirrors of them, which are read and written back slice by slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/handover/commands.hpp"
#include "engine/long_wait.hpp"
#include "engine/message_run.hpp"
#include "engine/plans.hpp"
#include "transports/mpi/messages.hpp"
#include "worker/call_views.hpp"
#include "worker/slice_order.hpp"
#include "worker/slices.hpp"

namespace hocket::worker {

/// Under which the workers are told that a rank of the job has died.
inline transports::mpi::CommunicatorId id_of_death(ir::Rank rank) noexcept {
  return {0x6465617468, static_cast<std::uint64_t>(rank)};
}

/// A communicator, as one of its ranks has opened it.
struct Communicator {
  /// Throws Error where its members cannot be where they are said to be.
  explicit Communicator(const engine::handover::Open& open);

  transports::mpi::CommunicatorId id;
  ir::Rank rank;
  std::vector<ir::Rank> members;
  std::optional<passes::Neighbourhood> near;  ///< where these are, if anybody knows
  engine::Plans plans;
  std::vector<passes::Recipe> fitting;  ///< recipes that are not too large
  std::uint32_t started = 0;            ///< slices of operations so far, equal on all members
  SliceOrder order;

  /// By which its members know that an operation has ended on all of them.
  engine::Plans::Shared commit();
};

/// A call with its buffers, as a rank has defined it. Throws Error for what no catalog has or no call is.
struct Definition {
  Definition(std::shared_ptr<Communicator> communicator, engine::handover::Define define,
             const RankProcess& process);

  std::shared_ptr<Communicator> communicator;
  const engine::handover::Define define;
  const CallViews views;
  engine::Plans::Shared plan, commit;
  std::size_t bytes;  ///< that each of its operations needs
};

/// Memory that nobody has touched before it is used: what a rank says of sizes may be wrong.
class Room {
 public:
  explicit Room(std::size_t bytes)
      : data_(bytes != 0 ? std::make_unique_for_overwrite<std::byte[]>(bytes) : nullptr), bytes_(bytes) {}
  std::byte* data() const noexcept { return data_.get(); }
  std::span<const std::byte> all() const noexcept { return {data_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t bytes_;
};

class Carried {
 public:
  /// `process`: the rank; it and `beat` outlive this. Throws Error where the call would touch what is not its
  /// own, and std::bad_alloc.
  Carried(std::shared_ptr<const Definition> definition, transports::mpi::Network& network,
          RankProcess& process, const Beat& beat);

  /// Throws std::bad_alloc.
  void begin(const engine::handover::Start& start);
  /// ok: the result is in the rank's buffers. Anything but pending: it has ended.
  Status advance() noexcept;
  /// It has ended because another worker has gone, or the network.
  bool lacks_workers(Status status) const noexcept {
    return status == Status::failed && memory_error_ == 0 && !failure();
  }
  /// What the rank's memory is not touched by any more.
  void abandon() noexcept {
    definition_->communicator->order.give_up(first_, slices_.weight(), begun_ - written_);
    for (const auto& lane : lanes_) lane->messages.abandon();
  }

  /// After a status that is neither ok nor pending, for people.
  std::string why(Status status) const;

  std::uint32_t completion() const noexcept { return start_.completion; }
  const Definition& definition() const noexcept { return *definition_; }
  std::size_t bytes() const noexcept { return definition_->bytes; }
  std::size_t progress() const noexcept {
    std::size_t sum = progress_of_written_ + commit_->progress();
    for (std::uint32_t slice = written_; slice < begun_; ++slice) sum += lane_of(slice).run->progress();
    return sum;
  }
  /// The rank, in the world, whose message it waits for after pending.
  ir::Rank awaited() const noexcept { return world(awaited_member()); }
  /// Now and then, after pending: asks the worker of whom it has waited for long whether it is still there.
  /// The rank, in the world, for which there was no answer for `stall_ns`; -1: there is none.
  ir::Rank unanswered(std::uint64_t now_ns, std::uint64_t stall_ns) noexcept;

 private:
  /// A slice under way. Up to two are, so that the link has the next one when one has ended.
  struct Lane {
    Lane(transports::mpi::Network& network, const Communicator& of) : messages(network, of.id, of.members) {}
    transports::mpi::Messages messages;
    engine::MessageRun run;
    bool has_ended = false;
  };
  static constexpr std::size_t most_lanes = 2;

  /// In the communicator, by the first slice that is under way. -1: by none, or by one that has not advanced
  /// yet, which waits for nothing that it could name.
  ir::Rank awaited_member() const noexcept {
    if (is_written()) return commit_->blocker().peer;
    for (std::uint32_t slice = written_; slice < begun_; ++slice)
      if (const Lane& lane = lane_of(slice); !lane.has_ended)
        return lane.run->progress() != 0 ? lane.run->blocker().peer : -1;
    return -1;
  }
  ir::Rank world(ir::Rank member) const noexcept {
    const auto& members = definition_->communicator->members;
    return member >= 0 && static_cast<std::size_t>(member) < members.size()
               ? members[static_cast<std::size_t>(member)]
               : -1;
  }
  /// Why the communicator cannot go on: nothing, unless it was given up or a member has died.
  std::optional<transports::mpi::CommunicatorId> failure() const noexcept;
  std::string disagreement() const;
  bool is_written() const noexcept { return written_ == slices_.count(); }
  Lane& lane_of(std::uint32_t slice) const noexcept { return *lanes_[slice % lanes_.size()]; }
  bool may_begin_slice() const noexcept;
  void begin_slice();
  Status begin_slices() noexcept;
  Status write_slice() noexcept;
  Status carry_slices() noexcept;
  int read(std::uint32_t slice) noexcept;
  int write(std::uint32_t slice) noexcept;
  Status carry_out() noexcept;

  const std::shared_ptr<const Definition> definition_;
  transports::mpi::Network& network_;
  RankProcess& process_;
  const Beat& beat_;
  engine::handover::Start start_;
  Room input_, output_;
  executors::Operation operation_;
  const Slices slices_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  engine::MessageRun commit_;
  std::uint32_t first_ = 0;                ///< number of the first slice, on the communicator
  std::uint32_t begun_ = 0, written_ = 0;  ///< slices; of the latter the result is in the rank's buffers
  engine::LongWait wait_;
  std::size_t progress_of_written_ = 0;  ///< slices
  std::size_t progress_then_ = 0;        ///< when unanswered() was asked last
  std::uint64_t went_on_ns_ = 0;         ///< since then it waits for what it waits for
  int memory_error_ = 0;                 ///< errno of a read or write of the rank's memory
  bool lacks_memory_ = false;            ///< this process
};

}  // namespace hocket::worker
