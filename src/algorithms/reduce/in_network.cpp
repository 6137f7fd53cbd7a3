#include "algorithms/patterns/in_network.hpp"

namespace hocket::algorithms {

void build_reduce_in_network(const Request& r, Builder& b) {
  const Region mine = ir::input(0);
  aggregate_all(r, r.root, r.rank == r.root ? ir::output(0) : ir::unwanted, std::span(&mine, 1), b);
}

}  // namespace hocket::algorithms
