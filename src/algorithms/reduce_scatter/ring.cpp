#include "algorithms/patterns/ring.hpp"
#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_reduce_scatter_ring(const Request& r, Builder& b) {
  for (Rank step = 1; step < r.ranks; ++step) {
    const Rank outgoing = before(r.rank, step, r.ranks);
    const Rank incoming = before(r.rank, step + 1, r.ranks);
    b.send(after(r.rank, 1, r.ranks), step == 1 ? ir::input(outgoing) : ir::scratch(outgoing));
    b.recv(before(r.rank, 1, r.ranks), ir::scratch(incoming));
    b.round();
    const bool own = incoming == r.rank;
    b.reduce(own ? ir::output(incoming) : ir::scratch(incoming),
             {ir::scratch(incoming), ir::input(incoming)});
  }
}

}  // namespace hocket::algorithms
