#include "poisson_cg/problem.hpp"

namespace poisson {
namespace {

constexpr double slope[3] = {1, 2, 3};

double bubble(double t) {
  return t * (1 - t);
}
double plane(const double (&at)[3]) {
  return 1 + slope[0] * at[0] + slope[1] * at[1] + slope[2] * at[2];
}
double solution(const double (&at)[3]) {
  return bubble(at[0]) * bubble(at[1]) * bubble(at[2]) * plane(at);
}

// With the other two fixed, u is b t(1-t)(c + kt), whose second derivative is b (2k - 2c - 6kt).
double minus_laplace(const double (&at)[3]) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    const double others = bubble(at[(d + 1) % 3]) * bubble(at[(d + 2) % 3]);
    const double k = slope[d], t = at[d], c = plane(at) - k * t;
    sum += others * (2 * c - 2 * k + 6 * k * t);
  }
  return sum;
}

template <class Function>
Field sampled(const Domain& domain, Function&& function) {
  const Shape& shape = domain.shape();
  const Triple& first = domain.first();
  const double h = 1.0 / (domain.points() + 1);
  const Triple n = shape.interior().high;
  Field field(shape.size(), 0.0);
  for (int x = 0; x < n[0]; ++x)
    for (int y = 0; y < n[1]; ++y)
      for (int z = 0; z < n[2]; ++z) {
        const double at[3] = {h * (first[0] + x + 1), h * (first[1] + y + 1), h * (first[2] + z + 1)};
        field[shape.at(x, y, z)] = function(at);
      }
  return field;
}

}  // namespace

Field exact_solution(const Domain& domain) {
  return sampled(domain, solution);
}
Field right_hand_side(const Domain& domain) {
  return sampled(domain, minus_laplace);
}

}  // namespace poisson
