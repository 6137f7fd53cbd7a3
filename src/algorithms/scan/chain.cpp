// The prefix goes into staging first, so that the next rank can start before this one has its own copy.
#include "algorithms/builders.hpp"

namespace hocket::algorithms {
namespace {

void take_prefix(const Request& r, Region target, Builder& b) {
  if (r.rank == 0) {
    b.copy(target, ir::input(0));
    return;
  }
  b.wait(r.rank - 1, 1);
  b.reduce(target, {ir::of(r.rank - 1, ir::staging(0)), ir::input(0)});
}

}  // namespace

void build_scan_chain(const Request& r, Builder& b) {
  if (r.rank + 1 == r.ranks) {
    take_prefix(r, ir::output(0), b);
    return;
  }
  take_prefix(r, ir::staging(0), b);
  b.signal();
  b.copy(ir::output(0), r.rank == 0 ? ir::input(0) : ir::staging(0));
}

}  // namespace hocket::algorithms
