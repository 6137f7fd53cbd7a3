// Does the kernel's copy pay on this machine? Measured, not assumed: on some machines it moves a quarter of
// what two copies in user space move, on others twice as much.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hocket::transports::cma {

inline constexpr std::array<std::size_t, 2> calibrated_sizes = {64 * 1024, 1024 * 1024};
inline constexpr double calibration_seconds = 0.020;
inline constexpr double least_gain = 1.10;

/// What one copy by the kernel is faster than, by least_gain and at every size; readable: it is possible, and
/// was not measured or is not faster. Each includes those before it.
enum class Gain : std::uint32_t { unknown, none, readable, over_two_copies, over_one_copy };

/// The best times, in nanoseconds, of moving each of calibrated_sizes between private buffers.
struct Calibration {
  std::array<std::uint64_t, calibrated_sizes.size()> kernel{};  ///< one copy by process_vm_readv
  std::array<std::uint64_t, calibrated_sizes.size()> staged{};  ///< copy in, copy out, through staging areas

  Gain gain() const noexcept;
};

/// Takes calibration_seconds at most, after its buffers are there (some 3 MB for that time). Reads this
/// process's own memory: no peer has to wait for it, and the kernel does for it all that it does for
/// another's. A process that may not even do that gets a result without gain. Throws std::bad_alloc.
Calibration calibrate();

}  // namespace hocket::transports::cma
