// Single copy: readers take data straight from the user's memory of its owner, who may not leave, nor let its
// program write there, until they have said that they are done. What the rows named `exposed` have in common.
#pragma once

#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

/// Everybody reads this part of the own input; ends when all have.
inline void lend(Builder& b, Region own) {
  b.expose(own);
  b.wait_everyone(b.signal());
}

/// The other side of lend().
inline void borrow(Builder& b, Rank owner, Region target, Region source) {
  b.wait(owner, 1);
  b.copy(target, ir::of(owner, source));
  b.signal();
}

/// Every rank reads `theirs(peer)` from ranks r+1, r+2, ...: at any moment no two from the same owner, while
/// they keep step, because the kernel's copies from one process get in each other's way.
template <class Theirs>
void exchange_exposed(const Request& r, Builder& b, Region own, Theirs theirs) {
  b.copy(ir::output(r.rank),
         ir::input(r.rank));  // first: in place they are one block, which peers read from then on
  b.expose(own);
  const std::uint32_t exposed = b.signal();
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = after(r.rank, distance, r.ranks);
    b.wait(peer, exposed);
    b.copy(ir::output(peer), theirs(peer));
  }
  b.wait_everyone(b.signal());
}

}  // namespace hocket::algorithms
