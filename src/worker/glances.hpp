// When a process of the workers looks up from its work: at the door, at who has died, at its connection.
#pragma once

#include <cstdint>

namespace hocket::worker {

class Glances {
 public:
  /// Whether it is time for one; then the next one is due 2 ms later.
  bool are_due(std::uint64_t now_ns) noexcept {
    if (now_ns - last_ns_ < between_ns) return false;
    last_ns_ = now_ns;
    return true;
  }

 private:
  static constexpr std::uint64_t between_ns = 2'000'000;
  std::uint64_t last_ns_ = 0;
};

}  // namespace hocket::worker
