// Nobody reads the own chunk of a rank's staging as an operand, so the folded slice goes there.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_allreduce_reduce_scatter_allgather(const Request& r, Builder& b) {
  stage_all_but(b, r.rank, r.ranks);
  b.wait_everyone(b.signal());
  b.reduce(ir::staging(r.rank), contributions(r, r.rank, r.ranks));
  const std::uint32_t folded = b.signal();
  b.copy(ir::output(r.rank), ir::staging(r.rank));
  b.round();
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, folded);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(peer)));
  }
}

}  // namespace hocket::algorithms
