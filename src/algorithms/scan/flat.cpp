#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_scan_flat(const Request& r, Builder& b) {
  if (r.rank + 1 < r.ranks) {
    b.copy(ir::staging(0), ir::input(0));
    b.signal();
  }
  for (Rank peer = 0; peer < r.rank; ++peer) b.wait(peer, 1);
  if (r.rank == 0)
    b.copy(ir::output(0), ir::input(0));
  else
    b.reduce(ir::output(0), contributions(r, 0, r.rank + 1));
}

}  // namespace hocket::algorithms
