// Distances around the ring: of any number of ranks, but a block may pass the rank that it is for.
#include "algorithms/alltoall/forwarded_blocks.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

struct AroundTheRing {
  Rank ranks;
  Rank after(Rank rank, Rank distance) const { return algorithms::after(rank, distance, ranks); }
  Rank before(Rank rank, Rank distance) const { return algorithms::before(rank, distance, ranks); }
};

}  // namespace

void build_alltoall_bruck(const Request& r, Builder& b) {
  forward_blocks(r, AroundTheRing{r.ranks}, b);
}

}  // namespace hocket::algorithms
