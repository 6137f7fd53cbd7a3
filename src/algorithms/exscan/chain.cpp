// The next rank's prefix goes into staging before the own output is written: first things first, and right in
// place.
#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_exscan_chain(const Request& r, Builder& b) {
  const bool last = r.rank + 1 == r.ranks;
  if (r.rank == 0) {
    b.copy(ir::staging(0), ir::input(0));
    b.signal();
    return;
  }
  const Region prefix = ir::of(r.rank - 1, ir::staging(0));
  b.wait(r.rank - 1, 1);
  if (!last) {
    b.reduce(ir::staging(0), {prefix, ir::input(0)});
    b.signal();
  }
  b.copy(ir::output(0), prefix);
}

}  // namespace hocket::algorithms
