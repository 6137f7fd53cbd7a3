#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_bcast_flat(const Request& r, Builder& b) {
  if (r.rank == r.root) {
    b.copy(ir::staging(0), ir::input(0));
    b.signal();
  } else {
    b.wait(r.root, 1);
    b.copy(ir::output(0), ir::of(r.root, ir::staging(0)));
  }
}

}  // namespace hocket::algorithms
