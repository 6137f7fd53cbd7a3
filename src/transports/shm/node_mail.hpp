// The mailboxes of the ranks of one node, as one of them sees them.
#pragma once

#include <cstddef>
#include <vector>

#include "transports/shm/mailbox.hpp"
#include "transports/shm/node_ranks.hpp"

namespace hocket::transports::shm {

class NodeMail {
 public:
  static constexpr std::size_t bytes(std::size_t ranks) { return ranks * sizeof(Mailbox::Memory); }

  /// `memory`: of so many bytes, zero at first. `self` is one of the ranks.
  NodeMail(std::byte* memory, NodeRanks ranks, Rank self);

  Rank self() const noexcept { return self_; }
  Mailbox& own() noexcept { return boxes_[own_]; }
  /// Null: that rank is elsewhere.
  Mailbox* of(Rank rank) noexcept {
    const Rank place = ranks_.place_of(rank);
    return place < 0 ? nullptr : &boxes_[static_cast<std::size_t>(place)];
  }

 private:
  const NodeRanks ranks_;
  const Rank self_;
  const std::size_t own_;
  std::vector<Mailbox> boxes_;  ///< in the order of ranks
};

}  // namespace hocket::transports::shm
