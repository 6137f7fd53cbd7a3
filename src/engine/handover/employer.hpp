// A communicator that hands operations to the node's worker, as these see it.
#pragma once

#include <span>
#include <string>

#include "engine/call_turn.hpp"
#include "engine/engine.hpp"
#include "engine/handover/registry.hpp"
#include "engine/host_names.hpp"
#include "engine/spread_operation.hpp"
#include "engine/wait_mode.hpp"

namespace hocket::engine::handover {

class Employer {
 public:
  using Id = transports::mpi::CommunicatorId;

  Employer(Engine& engine, const Id& id, std::span<const Rank> members, Rank rank)
      : engine_(engine), id_(id), members_(members), rank_(rank) {}
  virtual ~Employer() = default;
  Employer(const Employer&) = delete;
  Employer& operator=(const Employer&) = delete;

  const Id& id() const noexcept { return id_; }
  std::span<const Rank> members() const noexcept { return members_; }  ///< in the world
  Rank rank() const noexcept { return rank_; }                         ///< this one, in the communicator
  /// Where they are; null: that does not matter, or nobody knows.
  virtual const passes::Neighbourhood* near() const noexcept { return nullptr; }
  Rank world_rank() const noexcept { return members_[static_cast<std::size_t>(rank_)]; }
  transports::WaitMode wait_mode() const { return engine::wait_mode(engine_); }
  /// Of who waits for an operation, before it sleeps until the worker wakes it.
  virtual std::uint32_t yields() const noexcept { return transports::yields_before_sleep; }
  const Host& host() const noexcept { return engine_.host(); }
  Report& report() const noexcept { return engine_.report(); }
  Registry& registry() const noexcept { return engine_.registry(); }
  /// While the communicator has not failed.
  transports::mpi::Network& network() const noexcept { return *engine_.network(); }

  /// Whether operations can be relied on without the worker, in whatever calls of MPI the program makes.
  bool goes_on_alone() const noexcept { return engine_.network() && engine_.goes_on_beside_worker(); }
  /// For them: messages between the ranks.
  virtual const SpreadGround& ground() = 0;
  /// One of them has failed, and has told the others.
  virtual void has_failed_alone() noexcept {}
  /// For people.
  std::string name_of(Rank rank) const { return name_of_member(engine_, members_, rank); }
  void note_takeover() const {
    engine_.report().note("a worker has gone: communicators that it served go on by messages of the ranks");
  }

  /// Hears what the other ranks say of it. True: it has been given up, by whomever.
  virtual bool hears_of_failure() noexcept = 0;
  /// Gives it up, on all ranks, unless that has happened.
  virtual void fail(const std::string& text) noexcept = 0;
  virtual void fail(const CallTurn& turn, Status status) noexcept = 0;

 protected:
  void hear_of_workers() const noexcept { engine_.hear_of_workers(); }

 private:
  Engine& engine_;
  const Id id_;
  const std::span<const Rank> members_;
  const Rank rank_;
};

}  // namespace hocket::engine::handover
