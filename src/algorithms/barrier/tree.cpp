#include "algorithms/builders.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t arrived = 1;
/// The root's first signal is the release already.
constexpr std::uint32_t released(Rank parent) {
  return parent == 0 ? 1 : 2;
}

}  // namespace

void build_barrier_tree(const Request& r, Builder& b) {
  const KnomialTree tree(r.parameters[0], r.ranks);
  const auto children = tree.children(r.rank);
  for (const Subtree& child : children) b.wait(child.first, arrived);
  b.signal();
  if (r.rank == 0) return;
  b.round();
  const Rank parent = tree.parent(r.rank);
  b.wait(parent, released(parent));
  if (!children.empty()) b.signal();
}

}  // namespace hocket::algorithms
