// A communicator on one node that hands operations to its worker. Its failures are in memory that all ranks
// share.
#pragma once

#include "engine/guard.hpp"
#include "engine/handover/employer.hpp"

namespace hocket::engine {

class NodeEmployer final : public handover::Employer {
 public:
  /// `key`: of the communicator.
  NodeEmployer(Engine& engine, const SlotKey& key, std::span<const Rank> members, Rank rank, Guard& guard)
      : Employer(engine, {key.origin, key.members}, members, rank),
        guard_(guard),
        spread_guard_(engine, id(), members, rank),
        ground_{*engine.network(), spread_guard_, wait_mode(), host(), members, nullptr} {}

  bool hears_of_failure() noexcept override {
    hear_of_workers();
    return guard_.failed();
  }
  void fail(const std::string& text) noexcept override { guard_.fail(text); }
  void fail(const CallTurn& turn, Status status) noexcept override {
    const char* const what = status == Status::no_memory ? "no memory for a collective on one of the ranks: "
                                                         : "a collective failed: ";
    post_failure(guard_.failures(), [&] { return what + turn.mark.text(); });
  }
  const SpreadGround& ground() override { return ground_; }
  void has_failed_alone() noexcept override {
    post_failure(guard_.failures(), [&] { return spread_guard_.error(); });
  }

 private:
  Guard& guard_;
  SpreadGuard spread_guard_;
  const SpreadGround ground_;
};

}  // namespace hocket::engine
