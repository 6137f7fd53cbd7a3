#include "algorithms/patterns/in_network.hpp"

namespace hocket::algorithms {

void build_bcast_in_network(const Request& r, Builder& b) {
  const Region whole = ir::input(0);
  if (r.rank == r.root)
    aggregate_all(r, r.root, ir::unwanted, std::span(&whole, 1), b);
  else
    aggregate_all(r, r.root, ir::output(0), {}, b);
}

}  // namespace hocket::algorithms
