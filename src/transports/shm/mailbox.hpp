// Messages of bounded length between the processes of a node: each is copied into its receiver's mailbox by
// whoever sends it, and out of it by its owner. Nobody waits: a mailbox that is full refuses, and its sender
// takes another way.
//
// A bounded queue of many writers and one reader (Vyukov 2010): a writer takes the next slot, and a word in
// the slot says whose turn it is. A writer that dies in between stops the mailbox: what comes later is
// refused as soon as the slots behind it are full.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/shm/lines.hpp"
#include "transports/transport.hpp"
#include "transports/waiting.hpp"

namespace hocket::transports::shm {

class Mailbox {
 public:
  static constexpr std::uint32_t slots = 32;
  static constexpr std::size_t longest = 126 * line_bytes - 16;  ///< with what a slot says, whole lines

  struct alignas(line_bytes) Message {
    /// Twice how often the slot was read before: free; and one more: filled.
    std::atomic<std::uint32_t> turn;
    Rank from;
    std::uint32_t bytes;
    alignas(16) std::byte data[longest];
  };

  /// In memory that all of them map, zero at first.
  struct alignas(line_bytes) Memory {
    std::atomic<std::uint64_t> next;  ///< slot that a writer takes, counted from the beginning
    alignas(line_bytes) std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> elsewhere;  ///< messages that came by another way
    Message ring[slots];
  };

  explicit Mailbox(Memory& memory) noexcept : memory_(memory) {}

  /// `fill` writes the message's `bytes`, at most `longest`. False: no room.
  template <class Fill>
  bool put(Rank from, std::size_t bytes, Fill fill) noexcept {
    std::uint32_t filled = 0;
    Message* const message = take_slot(filled);
    if (!message) return false;
    message->from = from;
    message->bytes = static_cast<std::uint32_t>(bytes);
    fill(message->data);
    publish(*message, filled);
    return true;
  }
  /// Its owner is going to hear of a message by another way, and looks there until it has.
  void send_elsewhere() noexcept { memory_.elsewhere.fetch_add(1, std::memory_order_release); }

  // for its owner alone, one thread at a time

  /// The oldest message; null: there is none. It stays until drop().
  const Message* front() const noexcept;
  void drop() noexcept;
  /// What changes when the next message comes.
  Blocker blocker(Rank peer) const noexcept;
  std::atomic<std::uint32_t>& sleepers() noexcept { return memory_.sleepers; }
  std::uint32_t sent_elsewhere() const noexcept { return memory_.elsewhere.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint32_t turn_of(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number / slots * 2);
  }
  Message* take_slot(std::uint32_t& filled) noexcept;
  void publish(Message& message, std::uint32_t filled) noexcept;

  Memory& memory_;
  std::uint64_t read_ = 0;  ///< messages so far
};

}  // namespace hocket::transports::shm
