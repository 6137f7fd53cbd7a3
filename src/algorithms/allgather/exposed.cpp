#include "algorithms/patterns/exposed.hpp"

namespace hocket::algorithms {

void build_allgather_exposed(const Request& r, Builder& b) {
  exchange_exposed(r, b, ir::input(r.rank), [](Rank peer) { return ir::of(peer, ir::input(peer)); });
}

}  // namespace hocket::algorithms
