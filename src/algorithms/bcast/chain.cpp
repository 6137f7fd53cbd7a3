#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_bcast_chain(const Request& r, Builder& b) {
  const Rank place = place_of(r.rank, r.root, r.ranks);
  if (place > 0) {
    b.recv(before(r.rank, 1, r.ranks), ir::output(0));
    b.round();
  }
  if (place + 1 < r.ranks) b.send(after(r.rank, 1, r.ranks), place == 0 ? ir::input(0) : ir::output(0));
}

}  // namespace hocket::algorithms
