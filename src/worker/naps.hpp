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
  int descriptor = -1;    ///< readable then; -1: nothing tells, or nothing comes
  bool has_rung = false;  ///< something has come already
};

/// What is looked at when a rest ends by itself.
enum class Looks {
  at_nothing_urgent,  ///< nothing is under way
  at_commands,        ///< an alarm tells of all else
  at_everything,
};

/// Longer, the longer ago something has happened: a rest that is a small part of what an operation has taken
/// already is not felt in it, and leaves the core to the rank that may share it. 0: none yet.
constexpr long nap_ns(std::uint64_t since_ns, Looks looks) noexcept {
  constexpr std::uint64_t spin_ns = 50'000, shortest_ns = 20'000;
  if (since_ns < spin_ns) return 0;
  const std::uint64_t part = looks == Looks::at_commands ? 8 : 64;
  const std::uint64_t longest_ns = looks == Looks::at_nothing_urgent ? 5'000'000
                                   : looks == Looks::at_commands     ? 2'000'000
                                                                     : 500'000;
  return static_cast<long>(std::clamp(since_ns / part, shortest_ns, longest_ns));
}

/// Until one of them rings, or for so long at most (below a second).
inline void sleep_until(const Alarm& one, const Alarm& other, long most_ns) noexcept {
  if (one.has_rung || other.has_rung) return;
  std::array<pollfd, 2> waited{{{one.descriptor, POLLIN, 0}, {other.descriptor, POLLIN, 0}}};
  const timespec most{0, most_ns};
  ppoll(waited.data(), waited.size(), &most, nullptr);
}

}  // namespace hocket::worker
