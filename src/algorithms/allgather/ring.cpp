#include "algorithms/patterns/ring.hpp"
#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_allgather_ring(const Request& r, Builder& b) {
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank step = 0; step + 1 < r.ranks; ++step) {
    b.send(after(r.rank, 1, r.ranks), ir::output(before(r.rank, step, r.ranks)));
    b.recv(before(r.rank, 1, r.ranks), ir::output(before(r.rank, step + 1, r.ranks)));
    b.round();
  }
}

}  // namespace hocket::algorithms
