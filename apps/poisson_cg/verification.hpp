// Whether a solution is one: by its residual, computed anew, and by its distance from the manufactured
// solution.
#pragma once

#include "poisson_cg/solver.hpp"

namespace poisson {

struct Verdict {
  double residual = 0;  // |b - Ax| / |b|
  double error = 0;     // |x - u|, root of the mean square
  double bound = 0;     // what that error can be at most with this residual
  bool right = false;
};

Verdict judge(const Domain& domain, Halo& halo, const Field& b, Field& x, double tolerance);

}  // namespace poisson
