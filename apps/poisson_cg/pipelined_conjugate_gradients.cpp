#include "poisson_cg/solver.hpp"

namespace poisson {
namespace {

// The names are those of the paper: r residual, w = Ar, q = Aw; p direction, s = Ap, z = As.
struct Vectors {
  Field r, w, q, p, s, z;
};

struct Sums {
  double gamma = 0;  // r.r
  double delta = 0;  // w.r
};

Sums local_sums(System& system, const Vectors& v) {
  Sums sums;
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) {
      sums.gamma += v.r[i] * v.r[i];
      sums.delta += v.w[i] * v.r[i];
    }
  });
  return sums;
}

// All recurrences in one sweep over memory, with this rank's part of the next sums.
Sums update(System& system, double alpha, double beta, Vectors& v, Field& x) {
  Sums sums;
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) {
      v.z[i] = v.q[i] + beta * v.z[i];
      v.s[i] = v.w[i] + beta * v.s[i];
      v.p[i] = v.r[i] + beta * v.p[i];
      x[i] += alpha * v.p[i];
      v.r[i] -= alpha * v.s[i];
      v.w[i] -= alpha * v.z[i];
      sums.gamma += v.r[i] * v.r[i];
      sums.delta += v.w[i] * v.r[i];
    }
  });
  return sums;
}

}  // namespace

Solution pipelined_conjugate_gradients(System& system, const Field& b, const Limits& limits) {
  Solution found{system.zero()};
  const Field zero = system.zero();
  Vectors v{b, zero, zero, zero, zero, zero};
  system.apply(v.r, v.w);
  Sums sums = local_sums(system, v);
  double enough = 0, alpha = 0, gamma = 0;
  for (;; ++found.iterations) {
    double both[2] = {sums.gamma, sums.delta};
    system.start_sums(both, 2);
    system.apply(v.w, v.q);
    system.finish_sums();
    const bool first = found.iterations == 0;
    if (first) enough = limits.tolerance * limits.tolerance * both[0];
    if (both[0] <= enough || found.iterations == limits.iterations) return found;
    const double beta = first ? 0 : both[0] / gamma;
    alpha = both[0] / (first ? both[1] : both[1] - beta * both[0] / alpha);
    gamma = both[0];
    sums = update(system, alpha, beta, v, found.x);
  }
}

}  // namespace poisson
