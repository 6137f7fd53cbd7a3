#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_alltoall_direct(const Request& r, Builder& b) {
  stage_all_but(b, r.rank, r.ranks);
  const std::uint32_t staged = b.signal();
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, staged);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(r.rank)));
  }
}

}  // namespace hocket::algorithms
