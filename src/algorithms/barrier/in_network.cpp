#include "algorithms/patterns/in_network.hpp"

namespace hocket::algorithms {

void build_barrier_in_network(const Request& r, Builder& b) {
  aggregate_all(r, ir::everyone, ir::unwanted, {}, b);
}

}  // namespace hocket::algorithms
