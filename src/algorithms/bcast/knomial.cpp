#include <ranges>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_bcast_knomial(const Request& r, Builder& b) {
  const KnomialTree tree(r.parameters[0], r.ranks);
  const Rank place = place_of(r.rank, r.root, r.ranks);
  if (place != 0) {
    b.recv(rank_at(tree.parent(place), r.root, r.ranks), ir::output(0));
    b.round();
  }
  const auto children = tree.children(place);
  for (const Subtree& child : std::views::reverse(children))
    b.send(rank_at(child.first, r.root, r.ranks), place == 0 ? ir::input(0) : ir::output(0));
}

}  // namespace hocket::algorithms
