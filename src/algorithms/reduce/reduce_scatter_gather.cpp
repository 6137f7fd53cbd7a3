// Nobody reads the own chunk of a rank's staging as an operand, so the folded slice goes there.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_reduce_reduce_scatter_gather(const Request& r, Builder& b) {
  constexpr std::uint32_t staged = 1, folded = 2;
  const bool at_root = r.rank == r.root;
  stage_all_but(b, r.rank, r.ranks);
  b.signal();
  b.wait_everyone(staged);
  b.reduce(at_root ? ir::output(r.rank) : ir::staging(r.rank), contributions(r, r.rank, r.ranks));
  if (!at_root) {
    b.signal();
    return;
  }
  b.round();
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, folded);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(peer)));
  }
}

}  // namespace hocket::algorithms
