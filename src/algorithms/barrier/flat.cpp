#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_barrier_flat(const Request&, Builder& b) {
  b.wait_everyone(b.signal());
}

}  // namespace hocket::algorithms
