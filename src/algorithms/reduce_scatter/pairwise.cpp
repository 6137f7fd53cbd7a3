// Scratch: what arrives (plane 0) and the partial result (plane 1); the output is written last, for in-place
// calls.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_reduce_scatter_pairwise(const Request& r, Builder& b) {
  const Region arriving = ir::scratch(r.rank);
  const Region partial = ir::scratch(r.ranks + r.rank);
  Region mine = ir::input(r.rank);
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank target = after(r.rank, distance, r.ranks);
    b.send(target, ir::input(target));
    b.recv(before(r.rank, distance, r.ranks), arriving);
    b.round();
    const Region folded = distance + 1 == r.ranks ? ir::output(r.rank) : partial;
    b.reduce(folded, {arriving, mine});
    mine = folded;
  }
}

}  // namespace hocket::algorithms
