// Three checks of a transform: there and back again gives the input; a wave gives one peak and nothing else;
// and, as long as one rank can hold it, the values are those of FFTW's own three-dimensional transform.
#pragma once

#include <optional>
#include <span>

#include "fft3d/rank_grid.hpp"
#include "fft3d/transform.hpp"

namespace fft3d {

// Noise that depends on nothing but the field and the place: every rank, and rank 0 for all of them, can make
// it.
Array noise(const Extents& n, int field, const RankGrid::Part& part);

struct Verdict {
  double round_trip = 0;         // largest difference; the noise is below 1.5
  double wave = 0;               // largest difference, relative to the peak
  std::optional<double> serial;  // largest difference, relative to the root of the mean square
  bool right = false;
};

// `spectra` are the transforms of the noise of fields 0, 1 ...; they are overwritten. Of all of them the
// worst.
Verdict judge(const Extents& n, const RankGrid& grid, const Method& method, std::span<Array> spectra,
              bool against_serial);

}  // namespace fft3d
