#include "algorithms/builders.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {

void build_reduce_scatter_flat(const Request& r, Builder& b) {
  stage_all_but(b, r.rank, r.ranks);
  b.wait_everyone(b.signal());
  b.reduce(ir::output(r.rank), contributions(r, r.rank, r.ranks));
}

}  // namespace hocket::algorithms
