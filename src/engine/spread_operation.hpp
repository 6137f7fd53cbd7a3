// One operation of a communicator over several nodes: a schedule of messages, under way.
#pragma once

#include <optional>

#include "engine/call.hpp"
#include "engine/input_copy.hpp"
#include "engine/outstanding.hpp"
#include "engine/path.hpp"
#include "engine/spread_guard.hpp"
#include "executors/machine.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::engine {

/// What all operations of one communicator have in common.
struct SpreadGround {
  transports::mpi::Network& network;
  SpreadGuard& guard;
  const transports::Waiting& waiting;
  std::span<const Rank> members;
};

class SpreadOperation final : public Outstanding {
 public:
  /// Where the operation returns to; null for one that is always the communicator's.
  using Unused = std::vector<SpreadOperation*>;

  explicit SpreadOperation(const SpreadGround& ground, Unused* unused = nullptr)
      : ground_(ground), unused_(unused), messages_(ground.network, ground.guard.id(), ground.members) {}

  /// `signature`: of this call and all before it. Throws std::bad_alloc; no longer once it is warm.
  void prepare(const Path& path, const Call& call, const SpreadGuard::Turn& turn, std::uint32_t signature);

  Status advance() noexcept override { return machine_->advance(); }
  transports::Blocker blocker() noexcept override { return machine_->blocker(); }
  const transports::Waiting& waiting() const noexcept override { return ground_.waiting; }
  bool needs_mpi() const noexcept override { return true; }
  void fail(Status status) noexcept override;
  void release() noexcept override {
    if (unused_) unused_->push_back(this);
  }

  /// To its end, waiting.
  Status run() noexcept;

 private:
  const SpreadGround& ground_;
  Unused* unused_;
  transports::mpi::Messages messages_;
  SpreadGuard::Turn turn_;
  Call call_;
  InputCopy input_copy_;
  executors::Workspace workspace_;
  std::optional<executors::Binding> binding_;
  std::optional<executors::Machine> machine_;
};

}  // namespace hocket::engine
