#include "algorithms/patterns/exposed.hpp"

namespace hocket::algorithms {

void build_scatter_exposed(const Request& r, Builder& b) {
  if (r.rank != r.root) return borrow(b, r.root, ir::output(r.rank), ir::input(r.rank));
  b.expose(ir::input(0, r.ranks));
  const std::uint32_t exposed = b.signal();
  b.copy(ir::output(r.rank), ir::input(r.rank));  // while the others read
  b.wait_everyone(exposed);
}

}  // namespace hocket::algorithms
