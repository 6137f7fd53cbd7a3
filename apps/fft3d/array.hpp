// Values and their extents. An array of complex numbers is stored with the last of its three indices running
// fastest.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace fft3d {

using Complex = std::complex<double>;
using Array = std::vector<Complex>;
using Extents = std::array<int, 3>;  // x, y, z

inline std::size_t product(const Extents& n) {
  return static_cast<std::size_t>(n[0]) * n[1] * n[2];
}

}  // namespace fft3d
