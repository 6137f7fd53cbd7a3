#include "transports/shm/node_mail.hpp"

#include <algorithm>

namespace hocket::transports::shm {

NodeMail::NodeMail(std::byte* memory, std::vector<Rank> ranks, Rank self)
    : ranks_(std::move(ranks)), self_(self) {
  auto* const boxes = reinterpret_cast<Mailbox::Memory*>(memory);
  boxes_.reserve(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    boxes_.emplace_back(boxes[i]);
    if (ranks_[i] == self) own_ = i;
  }
}

Mailbox* NodeMail::of(Rank rank) noexcept {
  const auto found = std::ranges::lower_bound(ranks_, rank);
  if (found == ranks_.end() || *found != rank) return nullptr;
  return &boxes_[static_cast<std::size_t>(found - ranks_.begin())];
}

}  // namespace hocket::transports::shm
