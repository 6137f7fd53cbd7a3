#include "fft3d/lines.hpp"

namespace fft3d {

Lines::Lines(int length, int lines) {
  if (lines == 0) return;
  Array example(static_cast<std::size_t>(length) * lines);
  fftw_complex* values = as_fftw(example.data());
  // ESTIMATE: the same plan in every run; UNALIGNED: it is used on planes anywhere in an array.
  plan_ = fftw_plan_many_dft(1, &length, lines, values, nullptr, 1, length, values, nullptr, 1, length,
                             FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
}

void Lines::transform(Complex* plane) const {
  if (plan_) fftw_execute_dft(plan_, as_fftw(plane), as_fftw(plane));
}

}  // namespace fft3d
