// After the step at distance d a rank has blocks r .. r + 2d - 1, around the circle, where they belong.
#include <algorithm>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_allgather_bruck(const Request& r, Builder& b) {
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    const Rank count = std::min(distance, r.ranks - distance);
    const Rank from = after(r.rank, distance, r.ranks);
    b.send(before(r.rank, distance, r.ranks), run_of(ir::output, r.rank, count, r.ranks));
    b.recv(from, run_of(ir::output, from, count, r.ranks));
    b.round();
  }
}

}  // namespace hocket::algorithms
