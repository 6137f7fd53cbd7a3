#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_exscan_flat(const Request& r, Builder& b) {
  if (r.rank + 1 < r.ranks) {
    b.copy(ir::staging(0), ir::input(0));
    b.signal();
  }
  for (Rank peer = 0; peer < r.rank; ++peer) b.wait(peer, 1);
  if (r.rank == 1) b.copy(ir::output(0), ir::of(0, ir::staging(0)));
  if (r.rank > 1) b.reduce(ir::output(0), contributions(r, 0, r.rank));
}

}  // namespace hocket::algorithms
