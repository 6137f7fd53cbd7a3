#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_gather_linear(const Request& r, Builder& b) {
  if (r.rank != r.root) {
    b.send(r.root, ir::input(r.rank));
    return;
  }
  for (Rank peer = 0; peer < r.ranks; ++peer)
    if (peer != r.rank) b.recv(peer, ir::output(peer));
  b.copy(ir::output(r.rank), ir::input(r.rank));
}

}  // namespace hocket::algorithms
