// -Laplace with second-order differences: seven points, zero outside of the cube.
#pragma once

#include "poisson_cg/grid.hpp"

namespace poisson {

// The smallest eigenvalue for n points per direction in the unit cube.
double smallest_eigenvalue(int points);

// One plane of a box; ghosts of `in` next to it must be there.
void apply_laplacian(const Shape& shape, const Box& box, int x, double inverse_h2, const Field& in,
                     Field& out);

}  // namespace poisson
