// Areas that instances use one after another, in a ring: which instance used the next ones last.
#pragma once

#include <array>
#include <cstdint>

namespace hocket::transports::shm {

template <std::uint32_t areas>
class Turns {
 public:
  /// Goes on to the next `count` areas, side by side, for this instance; returns the last instance that used
  /// any of them (0: none).
  std::uint32_t take(std::uint32_t instance, std::uint32_t count = 1) noexcept {
    current_ = next_ + count > areas ? 0 : next_;
    next_ = current_ + count;
    std::uint32_t last = 0;
    for (std::uint32_t i = current_; i < next_; ++i) {
      if (static_cast<std::int32_t>(used_by_[i] - last) > 0 || last == 0) last = used_by_[i];
      used_by_[i] = instance;
    }
    return last;
  }
  /// The first of the areas taken last.
  std::uint32_t current() const noexcept { return current_; }

 private:
  std::uint32_t current_ = 0;
  std::uint32_t next_ = 0;
  std::array<std::uint32_t, areas> used_by_{};
};

}  // namespace hocket::transports::shm
