// The distributed system of equations as a solver sees it: products with the matrix, sums over all ranks,
// loops over the local points. The same solver runs in both forms: what is a start and a wait here is, in the
// blocking form, all done at the start.
#pragma once

#include "overlap/outstanding.hpp"
#include "poisson_cg/halo.hpp"
#include "shared/forms.hpp"

namespace poisson {

class System {
 public:
  System(const Domain& domain, Halo& halo, apps::Form form, int tests, apps::Stopwatch& communication);

  Field zero() const { return Field(domain_.shape().size(), 0.0); }

  // out = A in. The halo flies while the inner points are computed.
  void apply(Field& in, Field& out);

  // Sums over all ranks, in place; the values are theirs until finish_sums().
  void start_sums(double* values, int count);
  void finish_sums();

  // visit(index of the first point, number of points) for all local rows, testing now and then.
  template <class Visit>
  void each_row(Visit&& visit) {
    const Box all = domain_.shape().interior();
    each_plane(all, [&](int x) { poisson::each_row(domain_.shape(), all, x, visit); });
  }

 private:
  template <class Visit>
  void each_plane(const Box& box, Visit&& visit) {
    const int planes = box.high[0] - box.low[0];
    for (int i = 0; i < planes; ++i) {
      visit(box.low[0] + i);
      if (overlaps_ && overlap::test_is_due(i, planes, tests_)) outstanding_.test();
    }
  }
  void apply_to(const Box& box, const Field& in, Field& out);

  const Domain& domain_;
  Halo& halo_;
  bool overlaps_;
  int tests_;
  double inverse_h2_;
  apps::Stopwatch& communication_;
  overlap::Outstanding outstanding_;
};

}  // namespace poisson
