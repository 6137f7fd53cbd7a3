#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_scatter_flat(const Request& r, Builder& b) {
  if (r.rank == r.root) {
    stage_all_but(b, r.rank, r.ranks);
    b.signal();
    b.copy(ir::output(r.rank), ir::input(r.rank));
  } else {
    b.wait(r.root, 1);
    b.copy(ir::output(r.rank), ir::of(r.root, ir::staging(r.rank)));
  }
}

}  // namespace hocket::algorithms
