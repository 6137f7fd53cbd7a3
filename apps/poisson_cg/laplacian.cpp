#include "poisson_cg/laplacian.hpp"

#include <cmath>
#include <numbers>

namespace poisson {

double smallest_eigenvalue(int points) {
  const double h = 1.0 / (points + 1), sine = std::sin(std::numbers::pi * h / 2);
  return 12 * sine * sine / (h * h);
}

void apply_laplacian(const Shape& shape, const Box& box, int x, double inverse_h2, const Field& in,
                     Field& out) {
  const std::size_t dx = shape.stride(0), dy = shape.stride(1);
  each_row(shape, box, x, [&](std::size_t at, int length) {
    const double* c = in.data() + at;
    double* result = out.data() + at;
    for (int i = 0; i < length; ++i)
      result[i] =
          inverse_h2 * (6 * c[i] - (c[i - 1] + c[i + 1]) - (c[i - dy] + c[i + dy]) - (c[i - dx] + c[i + dx]));
  });
}

}  // namespace poisson
