#include "poisson_cg/verification.hpp"

#include <cmath>

#include "poisson_cg/laplacian.hpp"
#include "poisson_cg/problem.hpp"

namespace poisson {
namespace {

struct Squares {
  double residual = 0, right_hand_side = 0, error = 0;
};

Squares squares_of(System& system, const Field& b, const Field& ax, const Field& x, const Field& u) {
  Squares sums;
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) {
      sums.residual += (b[i] - ax[i]) * (b[i] - ax[i]);
      sums.right_hand_side += b[i] * b[i];
      sums.error += (x[i] - u[i]) * (x[i] - u[i]);
    }
  });
  return sums;
}

}  // namespace

Verdict judge(const Domain& domain, Halo& halo, const Field& b, Field& x, double tolerance) {
  constexpr double slack = 10;        // the recurrence of the residual drifts from the residual itself
  constexpr double rounding = 1e-12;  // of u, which is at most 1/16
  apps::Stopwatch nobody_asks;
  System system(domain, halo, apps::Form::blocking, 0, nobody_asks);
  Field ax = system.zero();
  system.apply(x, ax);
  const Squares mine = squares_of(system, b, ax, x, exact_solution(domain));
  double sums[3] = {mine.residual, mine.right_hand_side, mine.error};
  system.start_sums(sums, 3);
  system.finish_sums();

  const double points = std::pow(domain.points(), 3);
  Verdict verdict;
  verdict.residual = std::sqrt(sums[0] / sums[1]);
  verdict.error = std::sqrt(sums[2] / points);
  verdict.bound = std::sqrt(sums[0] / points) / smallest_eigenvalue(domain.points()) + rounding;
  verdict.right = verdict.residual <= slack * tolerance && verdict.error <= verdict.bound;
  return verdict;
}

}  // namespace poisson
