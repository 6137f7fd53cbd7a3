#include "poisson_cg/domain.hpp"

#include <algorithm>
#include <string>

#include "shared/blocks.hpp"
#include "shared/program.hpp"

namespace poisson {
namespace {

Triple ranks_per_direction(MPI_Comm world, int points) {
  Triple ranks{};
  MPI_Dims_create(apps::ranks_of(world), 3, ranks.data());
  const int most = *std::ranges::max_element(ranks);
  if (most > points)
    throw apps::UsageError("--points must be at least " + std::to_string(most) + " for " +
                           std::to_string(apps::ranks_of(world)) + " ranks");
  return ranks;
}

}  // namespace

Domain::Domain(MPI_Comm world, int points) : points_(points) {
  const Triple ranks = ranks_per_direction(world, points), periodic{};
  MPI_Cart_create(world, 3, ranks.data(), periodic.data(), 0, &comm_);
  Triple place{}, mine{};
  MPI_Cart_coords(comm_, apps::rank_of(comm_), 3, place.data());
  for (int d = 0; d < 3; ++d) {
    const apps::Block block = apps::block_of(points, ranks[d], place[d]);
    first_[d] = block.begin;
    mine[d] = block.count;
    MPI_Cart_shift(comm_, d, 1, &neighbors_[2 * d], &neighbors_[2 * d + 1]);
  }
  shape_ = Shape(mine);
}

Domain::~Domain() {
  MPI_Comm_free(&comm_);
}

Box Domain::inner() const {
  Box box = shape_.interior();
  for (int d = 0; d < 3; ++d) {
    if (neighbor(d, 0) != MPI_PROC_NULL) ++box.low[d];
    if (neighbor(d, 1) != MPI_PROC_NULL) box.high[d] = std::max(box.low[d], box.high[d] - 1);
  }
  return box;
}

std::array<Box, 6> Domain::shell() const {
  std::array<Box, 6> sides;
  const Box core = inner();
  Box rest = shape_.interior();  // gets smaller by the two sides of one direction after the other
  for (int d = 0; d < 3; ++d) {
    sides[2 * d] = sides[2 * d + 1] = rest;
    sides[2 * d].high[d] = core.low[d];
    sides[2 * d + 1].low[d] = core.high[d];
    rest.low[d] = core.low[d];
    rest.high[d] = core.high[d];
  }
  return sides;
}

}  // namespace poisson
