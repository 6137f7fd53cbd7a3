// A communicator over several nodes that hands operations to workers. Its failures are told over the MPI's
// messages.
#pragma once

#include "engine/handover/employer.hpp"
#include "engine/spread_operation.hpp"

namespace hocket::engine {

class SpreadEmployer final : public handover::Employer {
 public:
  SpreadEmployer(Engine& engine, const SpreadGround& ground, Rank rank, const passes::Neighbourhood* near)
      : Employer(engine, ground.guard.id(), ground.members, rank), ground_(ground), near_(near) {}

  const passes::Neighbourhood* near() const noexcept override { return near_; }

  std::uint32_t yields() const noexcept override { return transports::few_yields; }

  bool hears_of_failure() noexcept override {
    hear_of_workers();
    return ground_.guard.failed();
  }
  void fail(const std::string& text) noexcept override { ground_.guard.fail(text); }
  void fail(const CallTurn& turn, Status status) noexcept override {
    ground_.guard.fail(turn, status, std::nullopt);
  }
  const SpreadGround& ground() override { return ground_; }

 private:
  const SpreadGround& ground_;
  const passes::Neighbourhood* const near_;
};

}  // namespace hocket::engine
