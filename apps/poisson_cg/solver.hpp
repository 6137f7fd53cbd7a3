// Conjugate gradients in two arrangements of the same arithmetic.
#pragma once

#include "poisson_cg/system.hpp"

namespace poisson {

struct Limits {
  double tolerance;  // of the residual, relative to the right-hand side
  int iterations;
};

struct Solution {
  Field x;
  int iterations = 0;
};

// Hestenes and Stiefel 1952: two sums per iteration, one after the other. The second is overlapped with the
// update of x.
Solution conjugate_gradients(System& system, const Field& b, const Limits& limits);

// Ghysels and Vanroose 2014 (Hiding global synchronization latency in the preconditioned conjugate gradient
// algorithm): one sum of two values per iteration, overlapped with the product with the matrix; three more
// vectors to update.
Solution pipelined_conjugate_gradients(System& system, const Field& b, const Limits& limits);

}  // namespace poisson
