// A place's operand covers a run of consecutive ranks; the lower place's operand stands left on both sides,
// so that all ranks compute the same bits.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/fold_in.hpp"

namespace hocket::algorithms {
namespace {

Region fold_in(const Request& r, Builder& b) {
  b.recv(r.rank - 1, ir::scratch(0));
  b.round();
  b.reduce(ir::output(0), {ir::scratch(0), ir::input(0)});
  return ir::output(0);
}

void exchange(Rank partner, Region mine, bool lower, Builder& b) {
  const Region theirs = ir::scratch(0);
  b.send(partner, mine);
  b.recv(partner, theirs);
  b.round();
  b.reduce(ir::output(0), {lower ? mine : theirs, lower ? theirs : mine});
}

}  // namespace

void build_allreduce_recursive_doubling(const Request& r, Builder& b) {
  const FoldIn fold(r.ranks);
  if (fold.gives(r.rank)) {
    b.send(r.rank + 1, ir::input(0));
    b.round();
    b.recv(r.rank + 1, ir::output(0));
    return;
  }
  Region mine = fold.takes(r.rank) ? fold_in(r, b) : ir::input(0);
  const Rank place = fold.place(r.rank);
  for (Rank distance = 1; distance < fold.places(); distance *= 2) {
    exchange(fold.rank_at(place ^ distance), mine, (place & distance) == 0, b);
    mine = ir::output(0);
  }
  b.round();
  if (fold.takes(r.rank)) b.send(r.rank - 1, mine);
}

}  // namespace hocket::algorithms
