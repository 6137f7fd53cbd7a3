#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_scatter_linear(const Request& r, Builder& b) {
  if (r.rank != r.root) {
    b.recv(r.root, ir::output(r.rank));
    return;
  }
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.send(peer, ir::input(peer));
  }
  b.copy(ir::output(r.rank), ir::input(r.rank));
}

}  // namespace hocket::algorithms
