// Transforms of the lines of a plane, one after the other in memory, by FFTW.
#pragma once

#include <fftw3.h>

#include "fft3d/array.hpp"

namespace fft3d {

class Lines {
 public:
  Lines(int length, int lines);
  ~Lines() { fftw_destroy_plan(plan_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void transform(Complex* plane) const;  // in place

 private:
  fftw_plan plan_ = nullptr;  // none where there is no line
};

inline fftw_complex* as_fftw(Complex* values) {
  return reinterpret_cast<fftw_complex*>(values);
}

}  // namespace fft3d
