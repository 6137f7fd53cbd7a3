#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

void build_barrier_message_dissemination(const Request& r, Builder& b) {
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    b.send(after(r.rank, distance, r.ranks), std::span<const Region>{});
    b.recv(before(r.rank, distance, r.ranks), std::span<const Region>{});
    b.round();
  }
}

}  // namespace hocket::algorithms
