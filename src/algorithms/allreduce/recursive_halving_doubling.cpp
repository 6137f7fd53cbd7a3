// Places stand for runs of consecutive ranks and the nearest partners come first, so operands stay in the
// order of ranks, and every chunk is folded at one place only: all ranks get the same bits.
#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/fold_in.hpp"
#include "algorithms/patterns/halving.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

Region part(RegionOf buffer, Range range) {
  return buffer(range.first, range.count());
}

void fold_in(const Request& r, Range all, Builder& b) {
  b.recv(r.rank - 1, part(ir::scratch, all));
  b.round();
  b.reduce(part(ir::output, all), {part(ir::scratch, all), part(ir::input, all)});
}

/// Exchanges halves with the partner; what is kept is folded into the output.
Range halve(RegionOf mine, Rank partner, Range held, Rank place, Rank distance, Builder& b) {
  const Range keep = kept(held, place, distance);
  b.send(partner, part(mine, given(held, place, distance)));
  b.recv(partner, part(ir::scratch, keep));
  b.round();
  const Region own = part(mine, keep);
  const Region theirs = part(ir::scratch, keep);
  const bool lower = (place & distance) == 0;
  b.reduce(part(ir::output, keep), {lower ? own : theirs, lower ? theirs : own});
  return keep;
}

void exchange(Rank partner, Range mine, Range theirs, Builder& b) {
  b.send(partner, part(ir::output, mine));
  b.recv(partner, part(ir::output, theirs));
  b.round();
}

void work(const Request& r, const FoldIn& fold, Range all, Builder& b) {
  const Rank place = fold.place(r.rank);
  RegionOf mine = fold.takes(r.rank) ? ir::output : ir::input;
  std::vector<Range> held = {all};
  for (Rank distance = 1; distance < fold.places(); distance *= 2) {
    held.push_back(halve(mine, fold.rank_at(place ^ distance), held.back(), place, distance, b));
    mine = ir::output;
  }
  for (Rank distance = fold.places() / 2; distance > 0; distance /= 2) {
    const Range own = held.back();
    held.pop_back();
    exchange(fold.rank_at(place ^ distance), own, given(held.back(), place, distance), b);
  }
}

}  // namespace

void build_allreduce_recursive_halving_doubling(const Request& r, Builder& b) {
  const FoldIn fold(r.ranks);
  const Range all{0, fold.places()};
  if (fold.gives(r.rank)) {
    b.send(r.rank + 1, part(ir::input, all));
    b.round();
    b.recv(r.rank + 1, part(ir::output, all));
    return;
  }
  if (fold.takes(r.rank)) fold_in(r, all, b);
  work(r, fold, all, b);
  b.round();
  if (fold.takes(r.rank)) b.send(r.rank - 1, part(ir::output, all));
}

}  // namespace hocket::algorithms
