// A subtree's blocks are a run of consecutive ranks (around the circle). The own block arrives in the output,
// those to be passed on in scratch, from where they are sent.
#include <ranges>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_scatter_knomial(const Request& r, Builder& b) {
  const KnomialTree tree(r.parameters[0], r.ranks);
  const Rank place = place_of(r.rank, r.root, r.ranks);
  if (place == 0) {
    b.copy(ir::output(r.rank), ir::input(r.rank));
  } else {
    std::vector<Region> pieces = {ir::output(r.rank)};
    append_run(pieces, ir::scratch, r.rank + 1, tree.subtree(place).count - 1, r.ranks);
    b.recv(rank_at(tree.parent(place), r.root, r.ranks), pieces);
    b.round();
  }
  const RegionOf origin = place == 0 ? ir::input : ir::scratch;
  const auto children = tree.children(place);
  for (const Subtree& child : std::views::reverse(children)) {
    const Rank first = rank_at(child.first, r.root, r.ranks);
    b.send(first, run_of(origin, first, child.count, r.ranks));
  }
}

}  // namespace hocket::algorithms
