// Ranks in a grid, `radix` of them in each dimension but the last: the first dimension is that of neighbours.
// Distances are taken dimension by dimension, without a carry, so that each block crosses from one plane of
// the grid into another once: where the ranks under a switch are such a plane, its uplink is crossed once.
#include "algorithms/alltoall/forwarded_blocks.hpp"
#include "algorithms/patterns/grid.hpp"

namespace hocket::algorithms {

void build_alltoall_dimension_exchange(const Request& r, Builder& b) {
  forward_blocks(r, Grid{r.ranks, r.parameters[0]}, b);
}

}  // namespace hocket::algorithms
