#include "poisson_cg/halo.hpp"

#include <algorithm>

#include "shared/program.hpp"

namespace poisson {

Halo::Halo(const Domain& domain, By by) : domain_(domain), by_(by) {
  const int blocks = by == By::neighbor ? 6 : apps::ranks_of(domain.comm());
  sent_.counts.assign(blocks, 0);
  sent_.offsets.assign(blocks, 0);
  for (int direction = 0; direction < 3; ++direction)
    for (int side : {0, 1}) add_side(direction, side);
  received_ = sent_;  // sides that meet have the same number of points
}

void Halo::add_side(int direction, int side) {
  const int neighbor = domain_.neighbor(direction, side);
  if (neighbor == MPI_PROC_NULL) return;
  const Box all = domain_.shape().interior();
  const int n = all.high[direction];
  Box own = all, ghost = all;
  own.low[direction] = side ? n - 1 : 0;
  ghost.low[direction] = side ? n : -1;
  own.high[direction] = own.low[direction] + 1;
  ghost.high[direction] = ghost.low[direction] + 1;

  const int block = by_ == By::neighbor ? 2 * direction + side : neighbor;
  const std::size_t offset = sent_.values.size();
  sides_.push_back({own, ghost, offset});
  sent_.counts[block] = static_cast<int>(points_of(own));
  sent_.offsets[block] = static_cast<int>(offset);
  sent_.values.resize(offset + points_of(own));
}

void Halo::pack(const Field& field) {
  for (const Side& side : sides_) {
    double* out = sent_.values.data() + side.offset;
    each_row(domain_.shape(), side.own,
             [&](std::size_t at, int length) { out = std::copy_n(field.data() + at, length, out); });
  }
}

void Halo::unpack(Field& field) const {
  for (const Side& side : sides_) {
    const double* in = received_.values.data() + side.offset;
    each_row(domain_.shape(), side.ghost, [&](std::size_t at, int length) {
      std::copy_n(in, length, field.data() + at);
      in += length;
    });
  }
}

void Halo::exchange() {
  const auto call = by_ == By::neighbor ? MPI_Neighbor_alltoallv : MPI_Alltoallv;
  call(sent_.values.data(), sent_.counts.data(), sent_.offsets.data(), MPI_DOUBLE, received_.values.data(),
       received_.counts.data(), received_.offsets.data(), MPI_DOUBLE, domain_.comm());
}

MPI_Request Halo::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto call = by_ == By::neighbor ? MPI_Ineighbor_alltoallv : MPI_Ialltoallv;
  call(sent_.values.data(), sent_.counts.data(), sent_.offsets.data(), MPI_DOUBLE, received_.values.data(),
       received_.counts.data(), received_.offsets.data(), MPI_DOUBLE, domain_.comm(), &request);
  return request;
}

}  // namespace poisson
