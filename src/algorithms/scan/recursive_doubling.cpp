#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_scan_recursive_doubling(const Request& r, Builder& b) {
  Region prefix = ir::input(0);
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    if (r.rank + distance < r.ranks) b.send(r.rank + distance, prefix);
    if (r.rank >= distance) b.recv(r.rank - distance, ir::scratch(0));
    b.round();
    if (r.rank < distance) continue;
    b.reduce(ir::output(0), {ir::scratch(0), prefix});
    prefix = ir::output(0);
  }
  if (r.rank == 0) b.copy(ir::output(0), ir::input(0));
}

}  // namespace hocket::algorithms
