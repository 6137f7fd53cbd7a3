// Partners at the largest distance come first: then the blocks of a half of the places are one run, and every
// place ends with the blocks of the ranks that it stands for.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/fold_in.hpp"
#include "algorithms/patterns/halving.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

/// Scratch has two planes: partial results, and what arrives.
struct Vector {
  FoldIn fold;
  Rank ranks;
  RegionOf mine = ir::input;

  std::uint32_t first(Range places) const { return fold.first_rank(places.first); }
  std::uint32_t count(Range places) const { return fold.first_rank(places.end) - first(places); }
  Region held(Range places) const { return mine(first(places), count(places)); }
  Region partial(Range places) const { return ir::scratch(first(places), count(places)); }
  Region arriving(Range places) const { return ir::scratch(ranks + first(places), count(places)); }
};

void fold_arrived(Vector& v, Range places, Builder& b) {
  b.round();
  b.reduce(v.partial(places), {v.arriving(places), v.held(places)});
  v.mine = ir::scratch;
}

void halve(Vector& v, Rank place, Builder& b) {
  Range held{0, v.fold.places()};
  for (Rank distance = v.fold.places() / 2; distance > 0; distance /= 2) {
    const Range keep = kept(held, place, distance);
    const Rank partner = v.fold.rank_at(place ^ distance);
    b.send(partner, v.held(given(held, place, distance)));
    b.recv(partner, v.arriving(keep));
    fold_arrived(v, keep, b);
    held = keep;
  }
}

}  // namespace

void build_reduce_scatter_recursive_halving(const Request& r, Builder& b) {
  Vector v{FoldIn(r.ranks), r.ranks};
  const Range all{0, v.fold.places()};
  if (v.fold.gives(r.rank)) {
    b.send(r.rank + 1, v.held(all));
    b.round();
    b.recv(r.rank + 1, ir::output(r.rank));
    return;
  }
  if (v.fold.takes(r.rank)) {
    b.recv(r.rank - 1, v.arriving(all));
    fold_arrived(v, all, b);
  }
  halve(v, v.fold.place(r.rank), b);
  if (v.fold.takes(r.rank)) b.send(r.rank - 1, ir::scratch(r.rank - 1));
  b.copy(ir::output(r.rank), ir::scratch(r.rank));
}

}  // namespace hocket::algorithms
