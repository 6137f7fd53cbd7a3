// Areas that instances use one after another: which instance used the next one last.
#pragma once

#include <array>
#include <cstdint>

namespace hocket::transports::shm {

template <std::uint32_t depth>
class Turns {
 public:
  /// Goes on to the next area, for this instance; returns the instance that used it last (0: none).
  std::uint32_t take(std::uint32_t instance) noexcept {
    current_ = (current_ + 1) % depth;
    const std::uint32_t last = used_by_[current_];
    used_by_[current_] = instance;
    return last;
  }
  std::uint32_t current() const noexcept { return current_; }

 private:
  std::uint32_t current_ = 0;
  std::array<std::uint32_t, depth> used_by_{};
};

}  // namespace hocket::transports::shm
