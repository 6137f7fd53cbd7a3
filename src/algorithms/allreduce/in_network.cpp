#include "algorithms/patterns/in_network.hpp"

namespace hocket::algorithms {

void build_allreduce_in_network(const Request& r, Builder& b) {
  const Region mine = ir::input(0);
  aggregate_all(r, ir::everyone, ir::output(0), std::span(&mine, 1), b);
}

}  // namespace hocket::algorithms
