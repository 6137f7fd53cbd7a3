#include "algorithms/patterns/ring.hpp"
#include "algorithms/builders.hpp"

namespace hocket::algorithms {
namespace {

/// Afterwards rank r has the result of chunk r + 1.
void reduce_scatter(const Request& r, Builder& b) {
  for (Rank step = 0; step + 1 < r.ranks; ++step) {
    const Rank outgoing = before(r.rank, step, r.ranks);
    const Rank incoming = before(r.rank, step + 1, r.ranks);
    b.send(after(r.rank, 1, r.ranks), step == 0 ? ir::input(outgoing) : ir::output(outgoing));
    b.recv(before(r.rank, 1, r.ranks), ir::scratch(incoming));
    b.round();
    b.reduce(ir::output(incoming), {ir::scratch(incoming), ir::input(incoming)});
  }
}

void allgather(const Request& r, Builder& b) {
  for (Rank step = 0; step + 1 < r.ranks; ++step) {
    b.send(after(r.rank, 1, r.ranks), ir::output(before(r.rank + 1, step, r.ranks)));
    b.recv(before(r.rank, 1, r.ranks), ir::output(before(r.rank, step, r.ranks)));
    b.round();
  }
}

}  // namespace

void build_allreduce_ring(const Request& r, Builder& b) {
  reduce_scatter(r, b);
  allgather(r, b);
}

}  // namespace hocket::algorithms
