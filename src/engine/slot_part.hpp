// A part of a communicator's slot in the arena, carved at its first need.
#pragma once

#include <cstddef>

#include "engine/arena.hpp"

namespace hocket::engine {

class SlotPart {
 public:
  SlotPart(Arena& arena, const SlotKey& key) : arena_(arena), key_(key) {}
  ~SlotPart() {
    if (asked_) arena_.release(key_);
  }
  SlotPart(const SlotPart&) = delete;
  SlotPart& operator=(const SlotPart&) = delete;

  /// All of its `users` ask for the same. Null, for all of them: the arena's budget is spent.
  std::byte* carve(std::size_t bytes, int users, Content content) {
    if (!asked_) {
      asked_ = true;
      memory_ = arena_.carve(key_, bytes, users, content).memory;
    }
    return memory_;
  }
  /// Null until it is carved.
  std::byte* memory() const noexcept { return memory_; }

 private:
  Arena& arena_;
  const SlotKey key_;
  bool asked_ = false;
  std::byte* memory_ = nullptr;
};

}  // namespace hocket::engine
