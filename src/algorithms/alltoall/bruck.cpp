// Block `offset` starts as the input for the rank that many places after. It is sent from where it lies and
// received into the other plane of scratch, or, in its last step, into the output: no rotation before or
// after, no copy between.
#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/bruck.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

class Blocks {
 public:
  explicit Blocks(const Request& r) : r_(r) {
    for (Rank offset = 0; offset < r.ranks; ++offset)
      place_.push_back(ir::input(after(r.rank, offset, r.ranks)));
  }

  /// All blocks whose digit is `d` move d * weight places on.
  void move(Rank d, Rank weight, Rank radix, Builder& b) {
    std::vector<Region> sent, received;
    for (Rank offset = 0; offset < r_.ranks; ++offset) {
      if (digit(offset, weight, radix) != d) continue;
      sent.push_back(place_[offset]);
      place_[offset] = arrival(offset, arrives(offset, weight, radix));
      received.push_back(place_[offset]);
    }
    if (sent.empty()) return;
    b.send(after(r_.rank, d * weight, r_.ranks), sent);
    b.recv(before(r_.rank, d * weight, r_.ranks), received);
  }

 private:
  Region arrival(Rank offset, bool last) const {
    if (last) return ir::output(before(r_.rank, offset, r_.ranks));
    const Region first_plane = ir::scratch(offset);
    return place_[offset] == first_plane ? ir::scratch(r_.ranks + offset) : first_plane;
  }

  const Request& r_;
  std::vector<Region> place_;
};

}  // namespace

void build_alltoall_bruck(const Request& r, Builder& b) {
  const Rank radix = r.parameters[0];
  b.copy(ir::output(r.rank), ir::input(r.rank));
  Blocks blocks(r);
  for (Rank weight = 1; weight < r.ranks; weight *= radix) {
    for (Rank d = 1; d < radix && d * weight < r.ranks; ++d) blocks.move(d, weight, radix, b);
    b.round();
  }
}

}  // namespace hocket::algorithms
