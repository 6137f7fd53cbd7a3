#include "algorithms/patterns/exposed.hpp"

namespace hocket::algorithms {

void build_bcast_exposed(const Request& r, Builder& b) {
  if (r.rank == r.root)
    lend(b, ir::input(0));
  else
    borrow(b, r.root, ir::output(0), ir::input(0));
}

}  // namespace hocket::algorithms
