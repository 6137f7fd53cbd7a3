#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_barrier_dissemination(const Request& r, Builder& b) {
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    const std::uint32_t step = b.signal();
    b.wait(before(r.rank, distance, r.ranks), step);
    b.round();
  }
}

}  // namespace hocket::algorithms
