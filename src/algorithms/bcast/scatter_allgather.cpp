// Chunks carry the number of the place (the rank as seen from the root) that the scatter brings them to.
#include <ranges>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

struct Position {
  explicit Position(const Request& request)
      : r(request), tree(2, request.ranks), place(place_of(request.rank, request.root, request.ranks)) {}

  Rank rank_of(Rank p) const { return rank_at(p, r.root, r.ranks); }
  Region data(std::uint32_t first, std::uint32_t count) const {
    return place == 0 ? ir::input(first, count) : ir::output(first, count);
  }
  /// The scatter has brought the chunk to that place.
  bool has(Rank at, Rank chunk) const {
    const Subtree held = tree.subtree(at);
    return chunk >= held.first && chunk < held.first + held.count;
  }

  const Request& r;
  KnomialTree tree;
  Rank place;
};

void scatter(const Position& p, Builder& b) {
  const Subtree own = p.tree.subtree(p.place);
  if (p.place != 0) {
    b.recv(p.rank_of(p.tree.parent(p.place)), p.data(own.first, own.count));
    b.round();
  }
  const auto children = p.tree.children(p.place);
  for (const Subtree& child : std::views::reverse(children))
    b.send(p.rank_of(child.first), p.data(child.first, child.count));
  b.round();
}

void allgather(const Position& p, Builder& b) {
  const Rank ranks = p.r.ranks;
  const Rank next = after(p.place, 1, ranks);
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank outgoing = before(p.place, step, ranks);
    const Rank incoming = before(p.place, step + 1, ranks);
    if (!p.has(next, outgoing)) b.send(p.rank_of(next), p.data(outgoing, 1));
    if (!p.has(p.place, incoming)) b.recv(p.rank_of(before(p.place, 1, ranks)), p.data(incoming, 1));
    b.round();
  }
}

}  // namespace

void build_bcast_scatter_allgather(const Request& r, Builder& b) {
  const Position position(r);
  scatter(position, b);
  allgather(position, b);
}

}  // namespace hocket::algorithms
