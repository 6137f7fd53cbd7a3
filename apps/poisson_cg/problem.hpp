// A problem with a known answer (method of manufactured solutions):
//   u(x,y,z) = x(1-x) y(1-y) z(1-z) (1 + x + 2y + 3z)
// is zero on the boundary of the unit cube and of third degree in each variable, so that second-order
// differences are exact: what the solver finds differs from u only by what the solver left over.
#pragma once

#include "poisson_cg/domain.hpp"

namespace poisson {

Field exact_solution(const Domain& domain);
Field right_hand_side(const Domain& domain);  // -Laplace u

}  // namespace poisson
