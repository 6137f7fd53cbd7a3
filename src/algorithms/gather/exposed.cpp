#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

/// The root reads in the order of ranks after it and signals after each: who was read may leave.
void build_gather_exposed(const Request& r, Builder& b) {
  if (r.rank != r.root) {
    b.expose(ir::input(r.rank));
    b.signal();
    b.wait(r.root, static_cast<std::uint32_t>(place_of(r.rank, r.root, r.ranks)));
    return;
  }
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, 1);
    b.copy(ir::output(peer), ir::of(peer, ir::input(peer)));
    b.signal();
  }
}

}  // namespace hocket::algorithms
