// The mailboxes of the ranks of one node, as one of them sees them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "transports/shm/mailbox.hpp"

namespace hocket::transports::shm {

class NodeMail {
 public:
  static constexpr std::size_t bytes(std::size_t ranks) { return ranks * sizeof(Mailbox::Memory); }

  /// `memory`: of so many bytes, zero at first. `ranks`: of the node, in ascending order, the same on all of
  /// them; `self` is one of them.
  NodeMail(std::byte* memory, std::vector<Rank> ranks, Rank self);

  Rank self() const noexcept { return self_; }
  Mailbox& own() noexcept { return boxes_[own_]; }
  /// Null: that rank is elsewhere.
  Mailbox* of(Rank rank) noexcept;

 private:
  const std::vector<Rank> ranks_;
  const Rank self_;
  std::size_t own_ = 0;
  std::vector<Mailbox> boxes_;  ///< in the order of ranks
};

}  // namespace hocket::transports::shm
