// How long a worker rests, and what ends its rest.
#pragma once

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace hocket::worker {

/// What tells a sleeper that something has come.
struct Alarm {
  int descriptor = -1;    ///< readable then; -1: no such thing
  bool has_rung = false;  ///< something has come already
  bool is_deaf = false;   ///< something may come that nothing tells of
};

/// How long who is not told of everything may rest: longer, the longer ago something has happened. A rest
/// that is a small part of what an operation has taken already is not felt in it, and leaves the core to the
/// rank that may share it.
constexpr long nap_ns(std::uint64_t since_ns) noexcept {
  constexpr std::uint64_t part = 64, shortest_ns = 20'000, longest_ns = 500'000;
  return static_cast<long>(std::clamp(since_ns / part, shortest_ns, longest_ns));
}

/// Until one of them rings, or for so long at most (below a second). True: the second one has.
inline bool sleep_until(const Alarm& one, const Alarm& other, long most_ns) noexcept {
  if (one.has_rung || other.has_rung) return false;
  std::array<pollfd, 2> waited{{{one.descriptor, POLLIN, 0}, {other.descriptor, POLLIN, 0}}};
  const timespec most{0, most_ns};
  return ppoll(waited.data(), waited.size(), &most, nullptr) > 0 && waited[1].revents != 0;
}

}  // namespace hocket::worker
