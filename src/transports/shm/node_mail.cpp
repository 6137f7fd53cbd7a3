#include "transports/shm/node_mail.hpp"

#include <utility>

namespace hocket::transports::shm {

NodeMail::NodeMail(std::byte* memory, NodeRanks ranks, Rank self)
    : ranks_(std::move(ranks)), self_(self), own_(static_cast<std::size_t>(ranks_.place_of(self))) {
  auto* const boxes = reinterpret_cast<Mailbox::Memory*>(memory);
  boxes_.reserve(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) boxes_.emplace_back(boxes[i]);
}

}  // namespace hocket::transports::shm
