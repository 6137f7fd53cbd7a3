// Scratch: what arrives (plane 0) and the prefix that includes the own vector (plane 1), which is what later
// ranks need.
#include "algorithms/builders.hpp"

namespace hocket::algorithms {
namespace {

void add_to_output(Rank distance, Region arrived, Builder& b) {
  if (distance == 1)
    b.copy(ir::output(0), arrived);
  else
    b.reduce(ir::output(0), {arrived, ir::output(0)});
}

}  // namespace

void build_exscan_recursive_doubling(const Request& r, Builder& b) {
  const Region arrived = ir::scratch(0);
  const Region inclusive = ir::scratch(1);
  Region prefix = ir::input(0);
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    if (r.rank + distance < r.ranks) b.send(r.rank + distance, prefix);
    if (r.rank >= distance) b.recv(r.rank - distance, arrived);
    b.round();
    if (r.rank < distance) continue;
    if (r.rank + 2 * distance < r.ranks) {
      b.reduce(inclusive, {arrived, prefix});
      prefix = inclusive;
    }
    add_to_output(distance, arrived, b);
  }
}

}  // namespace hocket::algorithms
