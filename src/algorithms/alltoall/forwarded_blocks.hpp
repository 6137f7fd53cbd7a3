// Blocks that travel by the digits of their distance: forwarded by ranks on the way, each from where it lies
// and received into the other plane of scratch, or, in its last step, into the output. No rotation before or
// after, no copy between.
#pragma once

#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/bruck.hpp"

namespace hocket::algorithms {

/// `Distances` says who is how far away: after(rank, distance), before(rank, distance). Every block goes the
/// same way from everywhere, so that one is sent where one of the same distance is received.
template <class Distances>
class ForwardedBlocks {
 public:
  ForwardedBlocks(const Request& r, const Distances& distances) : r_(r), distances_(distances) {
    for (Rank distance = 0; distance < r.ranks; ++distance)
      place_.push_back(ir::input(distances.after(r.rank, distance)));
  }

  /// All blocks whose digit is `d` move d * weight on.
  void move(Rank d, Rank weight, Rank radix, Builder& b) {
    std::vector<Region> sent, received;
    for (Rank distance = 0; distance < r_.ranks; ++distance) {
      if (digit(distance, weight, radix) != d) continue;
      sent.push_back(place_[distance]);
      place_[distance] = arrival(distance, arrives(distance, weight, radix));
      received.push_back(place_[distance]);
    }
    if (sent.empty()) return;
    b.send(distances_.after(r_.rank, d * weight), sent);
    b.recv(distances_.before(r_.rank, d * weight), received);
  }

 private:
  Region arrival(Rank distance, bool last) const {
    if (last) return ir::output(distances_.before(r_.rank, distance));
    const Region first_plane = ir::scratch(distance);
    return place_[distance] == first_plane ? ir::scratch(r_.ranks + distance) : first_plane;
  }

  const Request& r_;
  const Distances& distances_;
  std::vector<Region> place_;
};

/// All of them, digit by digit: a round for each.
template <class Distances>
void forward_blocks(const Request& r, const Distances& distances, Builder& b) {
  const Rank radix = r.parameters[0];
  b.copy(ir::output(r.rank), ir::input(r.rank));
  ForwardedBlocks<Distances> blocks(r, distances);
  for (Rank weight = 1; weight < r.ranks; weight *= radix) {
    for (Rank d = 1; d < radix && d * weight < r.ranks; ++d) blocks.move(d, weight, radix, b);
    b.round();
  }
}

}  // namespace hocket::algorithms
