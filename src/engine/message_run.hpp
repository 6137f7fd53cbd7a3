// A schedule of messages on one set of buffers, under way. It serves again, and allocates nothing once it is
// warm.
#pragma once

#include "engine/renewed.hpp"
#include "executors/machine.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::engine {

class MessageRun {
 public:
  /// All of them outlive it. `aggregator`: of a plan that needs one. Throws std::bad_alloc.
  void lay(const executors::Plan& plan, const executors::Operation& op, transports::mpi::Messages& messages,
           executors::Aggregator* aggregator = nullptr) {
    lay(plan, op, {0, executors::Binding(plan, op).extent()}, messages, aggregator);
  }
  /// For this part of the data.
  void lay(const executors::Plan& plan, const executors::Operation& op, executors::Segment segment,
           transports::mpi::Messages& messages, executors::Aggregator* aggregator = nullptr) {
    binding_.make(plan, op);
    workspace_.fit(plan);
    workspace_.fit_scratch(binding_->scratch_bytes(segment.length));
    binding_->select(segment, workspace_.scratch());
    machine_.make(plan, *binding_, op, executors::Transports{nullptr, &messages, aggregator}, workspace_);
  }

  /// Of what was laid last.
  executors::Machine& operator*() noexcept { return *machine_; }
  executors::Machine* operator->() noexcept { return machine_.operator->(); }
  const executors::Machine* operator->() const noexcept { return machine_.operator->(); }

 private:
  executors::Workspace workspace_;
  Renewed<executors::Binding> binding_;
  Renewed<executors::Machine> machine_;
};

}  // namespace hocket::engine
