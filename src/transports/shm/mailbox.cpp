#include "transports/shm/mailbox.hpp"

namespace hocket::transports::shm {

/// Null: the slot whose turn it is has not been read since the last round.
Mailbox::Message* Mailbox::take_slot(std::uint32_t& filled) noexcept {
  std::uint64_t number = memory_.next.load(std::memory_order_relaxed);
  for (;;) {
    Message& message = memory_.ring[number % slots];
    const std::uint32_t turn = message.turn.load(std::memory_order_acquire);
    const auto ahead = static_cast<std::int32_t>(turn - turn_of(number));
    if (ahead < 0) return nullptr;
    if (ahead > 0)  // another writer has taken it
      number = memory_.next.load(std::memory_order_relaxed);
    else if (memory_.next.compare_exchange_weak(number, number + 1, std::memory_order_relaxed))
      return filled = turn + 1, &message;
  }
}

/// In one order for all: either the owner sees the message before it sleeps, or is seen to sleep.
void Mailbox::publish(Message& message, std::uint32_t filled) noexcept {
  message.turn.exchange(filled, std::memory_order_seq_cst);
  if (memory_.sleepers.load(std::memory_order_seq_cst) != 0) wake(&message.turn);
}

const Mailbox::Message* Mailbox::front() const noexcept {
  const Message& message = memory_.ring[read_ % slots];
  return message.turn.load(std::memory_order_acquire) == turn_of(read_) + 1 ? &message : nullptr;
}

void Mailbox::drop() noexcept {
  memory_.ring[read_ % slots].turn.store(turn_of(read_) + 2, std::memory_order_release);
  ++read_;
}

Blocker Mailbox::blocker(Rank peer) const noexcept {
  const Message& message = memory_.ring[read_ % slots];
  return {&message.turn, message.turn.load(std::memory_order_relaxed), peer};
}

}  // namespace hocket::transports::shm
