// Subtrees are runs of consecutive places: folding children nearest first keeps the order of places. An
// operation that does not commute needs the order of ranks; then the tree stands at rank 0, which hands the
// result to the root.
#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/formulas.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

/// Receives a level's partial results (scratch planes 1, 2, ...) and folds them onto `mine`.
void fold_level(const std::vector<Subtree>& level, Rank top, Rank ranks, Region mine, Region target,
                Builder& b) {
  std::vector<Region> sources = {mine};
  for (const Subtree& child : level) {
    const Region incoming = ir::scratch(static_cast<std::uint32_t>(sources.size()));
    b.recv(rank_at(child.first, top, ranks), incoming);
    sources.push_back(incoming);
  }
  b.round();
  b.reduce(target, sources);
}

}  // namespace

void build_reduce_knomial(const Request& r, Builder& b) {
  const Rank top = tree_top(r);
  const KnomialTree tree(r.parameters[0], r.ranks);
  const Rank place = place_of(r.rank, top, r.ranks);
  const Region folded = r.rank == r.root ? ir::output(0) : ir::scratch(0);

  Region mine = ir::input(0);
  for (const auto& level : tree.levels(place)) {
    fold_level(level, top, r.ranks, mine, folded, b);
    mine = folded;
  }
  if (place != 0) b.send(rank_at(tree.parent(place), top, r.ranks), mine);
  if (top == r.root) return;
  b.round();
  if (r.rank == top) b.send(r.root, mine);
  if (r.rank == r.root) b.recv(top, ir::output(0));
}

}  // namespace hocket::algorithms
