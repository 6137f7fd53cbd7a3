// Nobody reads the own chunk of a rank's staging as an operand, so the folded slice goes there.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_reduce_reduce_scatter_gather(const Request& r, Builder& b) {
  const bool at_root = r.rank == r.root;
  stage_all_but(b, r.rank, r.ranks);
  b.wait_everyone(b.signal());
  b.reduce(at_root ? ir::output(r.rank) : ir::staging(r.rank), contributions(r, r.rank, r.ranks));
  const std::uint32_t folded = b.signal();
  b.round();
  if (!at_root) return;
  for (Rank peer = 0; peer < r.ranks; ++peer) {
    if (peer == r.rank) continue;
    b.wait(peer, folded);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(peer)));
  }
}

}  // namespace hocket::algorithms
