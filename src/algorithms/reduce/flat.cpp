#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_reduce_flat(const Request& r, Builder& b) {
  if (r.rank == r.root) {
    b.wait_everyone(1);
    b.reduce(ir::output(0), contributions(r, 0, r.ranks));
  } else {
    b.copy(ir::staging(0), ir::input(0));
    b.signal();
  }
}

}  // namespace hocket::algorithms
