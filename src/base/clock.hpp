// The one clock: monotonic, because waits are bounded and must not care when somebody sets the time of day.
#pragma once

#include <time.h>

#include <cstdint>

namespace hocket {

inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Below a second; a signal may end it early.
inline void sleep_ns(long ns) noexcept {
  const timespec duration{0, ns};
  nanosleep(&duration, nullptr);
}

inline double monotonic_seconds() noexcept {
  return static_cast<double>(monotonic_ns()) * 1e-9;
}

/// A point in time to compare with; made from a duration.
class Deadline {
 public:
  explicit Deadline(double seconds) : at_(monotonic_seconds() + seconds) {}
  bool passed() const noexcept { return monotonic_seconds() >= at_; }

 private:
  double at_;
};

}  // namespace hocket
