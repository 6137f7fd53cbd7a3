// How long a worker rests between looks at the network, which nothing but a look tells of.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hocket::worker {

/// Longer, the longer ago something has happened: a rest that is a small part of what an operation has taken
/// already is not felt in it, and leaves the core to the rank that may share it. 0: none yet.
constexpr long nap_ns(std::uint64_t since_ns, bool is_idle) noexcept {
  constexpr std::uint64_t spin_ns = 50'000, part = 64, shortest_ns = 20'000;
  constexpr std::uint64_t longest_ns = 500'000, longest_idle_ns = 5'000'000;
  if (since_ns < spin_ns) return 0;
  return static_cast<long>(std::clamp(since_ns / part, shortest_ns, is_idle ? longest_idle_ns : longest_ns));
}

}  // namespace hocket::worker
