#include "algorithms/patterns/exposed.hpp"

namespace hocket::algorithms {

void build_alltoall_exposed(const Request& r, Builder& b) {
  exchange_exposed(r, b, ir::input(0, r.ranks), [&](Rank peer) { return ir::of(peer, ir::input(r.rank)); });
}

}  // namespace hocket::algorithms
