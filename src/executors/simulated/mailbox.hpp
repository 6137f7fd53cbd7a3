// Messages under way, first in, first out per pair of ranks. Holds no more memory than the most messages that
// were ever under way at once.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "executors/simulated/network.hpp"

namespace hocket::executors::simulated {

struct Message {
  double first_byte = 0;  ///< when it is at the receiver
  double last_byte = 0;   ///< not before this
  std::uint64_t bytes = 0;
  const LogGP* parameters = nullptr;
};

class Mailbox {
 public:
  void put(std::uint64_t pair, const Message& message) {
    const std::uint32_t slot = new_slot();
    slots_[slot] = {message, none};
    const auto [queue, is_new] = queues_.try_emplace(pair, Queue{slot, slot});
    if (is_new) return;
    slots_[queue->second.last].next = slot;
    queue->second.last = slot;
  }

  std::optional<Message> take(std::uint64_t pair) {
    const auto queue = queues_.find(pair);
    if (queue == queues_.end()) return std::nullopt;
    const std::uint32_t slot = queue->second.first;
    queue->second.first = slots_[slot].next;
    if (queue->second.first == none) queues_.erase(queue);
    slots_[slot].next = free_;
    free_ = slot;
    return slots_[slot].message;
  }

  bool empty() const { return queues_.empty(); }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Slot {
    Message message;
    std::uint32_t next = none;
  };
  struct Queue {
    std::uint32_t first, last;
  };

  std::uint32_t new_slot() {
    if (free_ == none) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_;
    free_ = slots_[slot].next;
    return slot;
  }

  std::unordered_map<std::uint64_t, Queue> queues_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = none;
};

}  // namespace hocket::executors::simulated
