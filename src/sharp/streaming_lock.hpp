// A group's claim to the tree for streaming. All members ask for it, in one frame each, and get one verdict.
// It is asked for when the first operation wants to stream, and kept for a batch of them. Members count
// alike: so they ask, and give back, at the same place.
#pragma once

#include <cstdint>
#include <optional>

#include "switch/wire/frames.hpp"

namespace hocket::sharp {

class StreamingLock {
 public:
  /// `batch`: operations; 0: without end.
  explicit StreamingLock(std::uint32_t batch) noexcept : batch_(batch) {}

  bool is_held() const noexcept { return state_ == State::held; }
  bool is_asked() const noexcept { return state_ == State::asked; }
  bool is_free() const noexcept { return state_ == State::free; }
  void ask() noexcept { state_ = State::asked; }
  void take(wire::Error verdict) noexcept {
    state_ = verdict == wire::Error::none ? State::held : State::free;
    left_ = batch_;
    if (verdict != wire::Error::none) refusal_ = verdict;
  }
  bool is_refused() const noexcept { return refusal_.has_value(); }
  /// The refusal, for the operation that it was asked for; once.
  std::optional<wire::Error> take_refusal() noexcept {
    const std::optional<wire::Error> refusal = refusal_;
    refusal_.reset();
    return refusal;
  }

  /// One more operation may stream now.
  bool begin_operation() noexcept {
    if (!is_held() || is_spent()) return false;
    if (batch_ != 0) --left_;
    ++running_;
    return true;
  }
  /// True: it was the last of its batch, and the lock is to be given back.
  bool end_operation() noexcept {
    --running_;
    if (!is_held() || !is_spent() || running_ > 0) return false;
    state_ = State::free;
    return true;
  }

 private:
  enum class State : std::uint8_t { free, asked, held };
  bool is_spent() const noexcept { return batch_ != 0 && left_ == 0; }

  State state_ = State::free;
  std::optional<wire::Error> refusal_;
  const std::uint32_t batch_;
  std::uint32_t left_ = 0, running_ = 0;
};

}  // namespace hocket::sharp
