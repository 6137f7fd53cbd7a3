// Runs a plan: a program counter over its ops, which stops where it would have to wait and goes on from
// there. The blocking executor, and later progress engines and workers, call advance() as they like.
#pragma once

#include "base/status.hpp"
#include "executors/aggregator.hpp"
#include "executors/binding.hpp"
#include "executors/plan.hpp"
#include "transports/transport.hpp"

namespace hocket::executors {

struct Transports {
  transports::OneSided* one_sided = nullptr;
  transports::TwoSided* two_sided = nullptr;
  Aggregator* aggregator = nullptr;
};

class Machine {
 public:
  /// All arguments outlive the machine; the workspace fits the plan and belongs to it while it runs.
  Machine(const Plan& plan, const Binding& binding, const Operation& operation, Transports transports,
          Workspace& workspace) noexcept
      : plan_(plan), binding_(binding), op_(operation), via_(transports), space_(workspace) {}

  /// Goes on until something has to be waited for (pending), the end (ok), or an error. May be called again
  /// only after pending.
  Status advance() noexcept;
  /// What the last pending advance() waits for.
  transports::Blocker blocker() const noexcept;
  /// Ops, transfers and aggregations done so far: grows with every progress.
  std::size_t progress() const noexcept { return progress_; }

 private:
  Status step(const ir::Op& op) noexcept;
  Status wait(const ir::Op& op) noexcept;
  Status finish_round() noexcept;
  Status finish_transfers() noexcept;
  Status finish_aggregations() noexcept;
  Status aggregate(const ir::Op& op) noexcept;
  void settle(const ir::Op& op) noexcept;
  bool settles() const noexcept;
  transports::Blocker transfers_blocker() const noexcept;
  bool is_held(std::uint32_t transfer) const noexcept { return space_.held[transfer] > received_; }
  void copy(const ir::Op& op) noexcept;
  Status read_exposed(const ir::Op& op) noexcept;
  void reduce(const ir::Op& op) noexcept;
  void start_transfer(const ir::Op& op) noexcept;
  transports::Piece whole(const ir::Region& region) const noexcept;
  transports::Piece target(const ir::Region& region, std::uint32_t chunk) const noexcept;
  const std::byte* source(const ir::Region& region, std::uint32_t chunk) const noexcept;

  const Plan& plan_;
  const Binding& binding_;
  const Operation& op_;
  Transports via_;
  Workspace& space_;

  std::uint32_t pc_ = 0;
  std::uint32_t round_ = 0;
  Rank seen_ = 0;  ///< of a wait for everyone: peers below have been seen
  std::uint32_t transfers_ = 0;
  std::uint32_t received_ = 0;  ///< recvs of the round that have ended
  std::uint32_t pieces_ = 0;
  std::uint32_t aggregations_ = 0;  ///< under way
  std::size_t progress_ = 0;
};

}  // namespace hocket::executors
