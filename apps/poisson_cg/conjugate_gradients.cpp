#include "poisson_cg/solver.hpp"

namespace poisson {
namespace {

double dot(System& system, const Field& a, const Field& b) {
  double sum = 0;
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) sum += a[i] * b[i];
  });
  system.start_sums(&sum, 1);
  system.finish_sums();
  return sum;
}

// y += factor * x; returns this rank's part of y.y
double add(System& system, double factor, const Field& x, Field& y) {
  double square = 0;
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) {
      y[i] += factor * x[i];
      square += y[i] * y[i];
    }
  });
  return square;
}

// p = r + beta p
void turn(System& system, const Field& r, double beta, Field& p) {
  system.each_row([&](std::size_t at, int length) {
    for (std::size_t i = at; i < at + length; ++i) p[i] = r[i] + beta * p[i];
  });
}

}  // namespace

Solution conjugate_gradients(System& system, const Field& b, const Limits& limits) {
  Solution found{system.zero()};
  Field r = b, p = b, q = system.zero();
  double square = dot(system, r, r);
  const double enough = limits.tolerance * limits.tolerance * square;
  for (; square > enough && found.iterations < limits.iterations; ++found.iterations) {
    system.apply(p, q);
    const double alpha = square / dot(system, p, q);
    double next = add(system, -alpha, q, r);
    system.start_sums(&next, 1);
    add(system, alpha, p, found.x);
    system.finish_sums();
    turn(system, r, next / square, p);
    square = next;
  }
  return found;
}

}  // namespace poisson
