// Where the worker says what has become of an operation: at the desk, or, when all words there are in use, in
// memory of the rank's own, which the worker writes to as it does to its buffers. So operations may be under
// way without end: ranks that start them in different orders, on different communicators, need the last ones
// as much as the first.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/handover/client.hpp"

namespace hocket::engine::handover {

class Word {
 public:
  /// As a Completion. One byte, which appears at once: as soon as it is seen it may serve for something else.
  using Own = std::atomic<std::uint8_t>;

  explicit Word(Client& client) noexcept : client_(client) {}
  ~Word() { lose(); }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  /// One for an operation that is about to be started, saying that it is under way. Throws std::bad_alloc.
  void take();
  /// The worker does not write there any more.
  void give_back() noexcept;
  /// It may: the word is nobody's from now on.
  void lose() noexcept;

  explicit operator bool() const noexcept { return number_.has_value(); }
  /// Of an operation among those that are under way.
  std::uint32_t number() const noexcept { return number_.value_or(0); }
  /// Null: at the desk, or none.
  const Own* own() const noexcept { return own_.get(); }
  /// At the desk; null: elsewhere, where the worker wakes nobody.
  const Completion* awaited() const noexcept {
    return *this && !own_ ? &client_.completion(number()) : nullptr;
  }
  /// pending: also of none.
  Status status() const noexcept {
    if (own_) return status_of(own_->load(std::memory_order_acquire));
    const Completion* const at_desk = awaited();
    return at_desk ? status_of(at_desk->load(std::memory_order_acquire)) : Status::pending;
  }

 private:
  Client& client_;
  std::optional<std::uint32_t> number_;
  std::unique_ptr<Own> own_;
};

}  // namespace hocket::engine::handover
