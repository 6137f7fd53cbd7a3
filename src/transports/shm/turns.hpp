// Areas that instances use one after another, in a ring: which instance used the next ones last.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace hocket::transports::shm {

/// `horizon`: instances this much older than a new one are over by the time it begins; how old they are then
/// does not matter.
template <std::uint32_t areas, std::uint32_t horizon>
class Turns {
 public:
  /// Goes on to the next `count` areas, side by side, for this instance; returns the last instance that may
  /// still use any of them.
  std::uint32_t take(std::uint32_t instance, std::uint32_t count = 1) noexcept {
    current_ = next_ + count > areas ? 0 : next_;
    next_ = current_ + count;
    std::uint32_t age = horizon;
    for (std::uint32_t i = current_; i < next_; ++i) {
      age = std::min(age, instance - used_by_[i]);
      used_by_[i] = instance;
    }
    return instance - age;
  }
  /// The first of the areas taken last.
  std::uint32_t current() const noexcept { return current_; }

 private:
  std::uint32_t current_ = 0;
  std::uint32_t next_ = 0;
  std::array<std::uint32_t, areas> used_by_{};
};

}  // namespace hocket::transports::shm
