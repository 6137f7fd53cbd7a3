// What an operation has in the network of its group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/aggregation/leader_group.hpp"
#include "engine/aggregation/started.hpp"

namespace hocket::engine::aggregation {

class InNetwork {
 public:
  /// Of an operation; the group outlives it. `patience_ns`: without an end of anything until the network
  /// counts as lost; 0: for ever.
  void begin(LeaderGroup& group, std::uint64_t patience_ns) noexcept;

  /// ok: has ended at once; pending; or the network has failed, or there is none. `for_all`: all members get
  /// the result, also where only one wants it.
  Status post(Started& started, bool for_all) noexcept;
  /// The same of one that is pending.
  Status look(Started& started) noexcept;
  /// What a pending one waits for.
  transports::Blocker blocker() const noexcept;
  /// After a look at all that were: `is_any_pending`, and `has_any_ended` in it.
  bool is_out_of_patience(bool is_any_pending, bool has_any_ended) noexcept;
  /// Nothing in it touches memory any more.
  void lose(std::span<const std::unique_ptr<Started>> all) noexcept;

 private:
  LeaderGroup* group_ = nullptr;
  std::uint64_t patience_ns_ = 0;
  std::uint64_t waits_since_ns_ = 0;  ///< 0: it does not
};

}  // namespace hocket::engine::aggregation
