#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_gather_flat(const Request& r, Builder& b) {
  if (r.rank != r.root) {
    b.copy(ir::staging(r.rank), ir::input(r.rank));
    b.signal();
    return;
  }
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, 1);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(peer)));
  }
}

}  // namespace hocket::algorithms
