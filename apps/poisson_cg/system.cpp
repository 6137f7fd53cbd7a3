#include "poisson_cg/system.hpp"

#include "poisson_cg/laplacian.hpp"

namespace poisson {
namespace {

enum Slot { halo_slot, sums_slot, slots };

double inverse_square_of_step(int points) {
  return static_cast<double>(points + 1) * (points + 1);
}

}  // namespace

System::System(const Domain& domain, Halo& halo, apps::Form form, int tests, apps::Stopwatch& communication)
    : domain_(domain),
      halo_(halo),
      overlaps_(form == apps::Form::nonblocking),
      tests_(tests),
      inverse_h2_(inverse_square_of_step(domain.points())),
      communication_(communication),
      outstanding_(slots, communication) {}

void System::apply_to(const Box& box, const Field& in, Field& out) {
  each_plane(box, [&](int x) { apply_laplacian(domain_.shape(), box, x, inverse_h2_, in, out); });
}

void System::apply(Field& in, Field& out) {
  halo_.pack(in);
  if (!overlaps_) {
    communication_([&] { halo_.exchange(); });
    halo_.unpack(in);
    apply_to(domain_.shape().interior(), in, out);
    return;
  }
  outstanding_.start(halo_slot, [&] { return halo_.start(); });
  apply_to(domain_.inner(), in, out);
  outstanding_.wait(halo_slot);
  halo_.unpack(in);
  for (const Box& side : domain_.shell())
    if (points_of(side)) apply_to(side, in, out);
}

void System::start_sums(double* values, int count) {
  if (!overlaps_) {
    communication_([&] { MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, domain_.comm()); });
    return;
  }
  outstanding_.start(sums_slot, [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, domain_.comm(), &request);
    return request;
  });
}

void System::finish_sums() {
  outstanding_.wait(sums_slot);
}

}  // namespace poisson
