#include "transports/cma/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "transports/cma/process_memory.hpp"
#include "transports/shm/staging.hpp"

namespace hocket::transports::cma {
namespace {

using shm::staging_area_bytes;
using shm::staging_depth;

constexpr int most_repetitions = 12;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// Begins where a page does, or so far into it.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes, std::size_t shift = 0)
      : memory_(page + shift + bytes, std::byte{1}), shift_(shift) {}
  std::byte* data() noexcept {
    std::byte* const first = memory_.data();
    return first + -reinterpret_cast<std::uintptr_t>(first) % page + shift_;
  }

 private:
  static constexpr std::size_t page = 4096;
  std::vector<std::byte> memory_;
  std::size_t shift_;
};

/// Programs' large buffers lie alike in their pages: neither copy falls into the trap of base/copy.hpp.
class Measurement {
 public:
  Measurement()
      : from_(calibrated_sizes.back()),
        to_(calibrated_sizes.back()),
        area_(staging_depth * staging_area_bytes, shm::staging_shift) {}

  std::uint64_t kernel_copy(std::size_t bytes) noexcept {
    const std::uint64_t started = monotonic_ns();
    const int error =
        read_process_memory(getpid(), reinterpret_cast<std::uintptr_t>(from_.data()), {to_.data(), bytes});
    return error == 0 ? monotonic_ns() - started : never;
  }

  std::uint64_t staged_copy(std::size_t bytes) noexcept {
    const std::uint64_t started = monotonic_ns();
    for (std::size_t at = 0; at < bytes; at += staging_area_bytes) {
      const std::size_t length = std::min(staging_area_bytes, bytes - at);
      std::byte* area = area_.data() + at / staging_area_bytes % staging_depth * staging_area_bytes;
      copy(area, from_.data() + at, length);
      copy(to_.data() + at, area, length);
    }
    return monotonic_ns() - started;
  }

 private:
  /// The compiler must not see that two copies in a row are one.
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    copy_bytes(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  }

  Buffer from_, to_, area_;
};

}  // namespace

Gain Calibration::gain() const noexcept {
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < calibrated_sizes.size(); ++i)
    least = std::min(least, static_cast<double>(staged[i]) / static_cast<double>(kernel[i]));
  if (least < least_gain) return Gain::none;
  return least < 2 * least_gain ? Gain::over_two_copies : Gain::over_one_copy;
}

/// Both ways in turn, and the best of each: what else runs on the machine disturbs both alike and only ever
/// adds.
Calibration calibrate() {
  Measurement measurement;
  const Deadline deadline(calibration_seconds);
  Calibration best;
  best.kernel.fill(never);
  best.staged.fill(never);
  for (int i = 0; i < most_repetitions && !deadline.passed(); ++i)
    for (std::size_t s = 0; s < calibrated_sizes.size(); ++s) {
      best.kernel[s] = std::min(best.kernel[s], measurement.kernel_copy(calibrated_sizes[s]));
      best.staged[s] = std::min(best.staged[s], measurement.staged_copy(calibrated_sizes[s]));
    }
  return best;
}

}  // namespace hocket::transports::cma
