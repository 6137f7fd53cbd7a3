// A subtree's blocks are a run of consecutive ranks (around the circle). The own block is sent from the
// input, the others from where they arrived: nothing is copied on the way.
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_gather_knomial(const Request& r, Builder& b) {
  const KnomialTree tree(r.parameters[0], r.ranks);
  const Rank place = place_of(r.rank, r.root, r.ranks);
  const RegionOf arrival = place == 0 ? ir::output : ir::scratch;
  for (const Subtree& child : tree.children(place)) {
    const Rank first = rank_at(child.first, r.root, r.ranks);
    b.recv(first, run_of(arrival, first, child.count, r.ranks));
  }
  if (place == 0) {
    b.copy(ir::output(r.rank), ir::input(r.rank));
    return;
  }
  b.round();
  std::vector<Region> pieces = {ir::input(r.rank)};
  append_run(pieces, arrival, r.rank + 1, tree.subtree(place).count - 1, r.ranks);
  b.send(rank_at(tree.parent(place), r.root, r.ranks), pieces);
}

}  // namespace hocket::algorithms
