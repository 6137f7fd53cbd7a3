#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_alltoall_pairwise(const Request& r, Builder& b) {
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank target = after(r.rank, distance, r.ranks);
    const Rank origin = before(r.rank, distance, r.ranks);
    b.send(target, ir::input(target));
    b.recv(origin, ir::output(origin));
    b.round();
  }
}

}  // namespace hocket::algorithms
