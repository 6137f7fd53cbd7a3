#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_allgather_flat(const Request& r, Builder& b) {
  b.copy(ir::staging(r.rank), ir::input(r.rank));
  const std::uint32_t staged = b.signal();
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, staged);
    b.copy(ir::output(peer), ir::of(peer, ir::staging(peer)));
  }
}

}  // namespace hocket::algorithms
