#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_allreduce_flat(const Request& r, Builder& b) {
  b.copy(ir::staging(0), ir::input(0));
  b.wait_everyone(b.signal());
  b.reduce(ir::output(0), contributions(r, 0, r.ranks));
}

}  // namespace hocket::algorithms
