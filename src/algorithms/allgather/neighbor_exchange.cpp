// Ranks form pairs (0,1) (2,3) ... Once a pair has exchanged, its two blocks travel together; an even rank
// turns to the rank before it in odd rounds and to the rank after it in even rounds, an odd rank the other
// way round.
#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {
namespace {

Region pair_of(Rank rank) {
  return ir::output(rank / 2 * 2, 2);
}

}  // namespace

void build_allgather_neighbor_exchange(const Request& r, Builder& b) {
  const bool even = r.rank % 2 == 0;
  b.copy(ir::output(r.rank), ir::input(r.rank));
  const Rank mate = r.rank ^ 1;
  b.send(mate, ir::output(r.rank));
  b.recv(mate, ir::output(mate));
  b.round();
  Rank newest = r.rank;  // a rank of the pair that came last
  for (Rank round = 1; round < r.ranks / 2; ++round) {
    const bool backward = even == (round % 2 == 1);
    const Rank peer = backward ? before(r.rank, 1, r.ranks) : after(r.rank, 1, r.ranks);
    const Rank distance = (round + 1) / 2 * 2;
    const Rank arriving = backward ? before(r.rank, distance, r.ranks) : after(r.rank, distance, r.ranks);
    b.send(peer, pair_of(newest));
    b.recv(peer, pair_of(arriving));
    b.round();
    newest = arriving;
  }
}

}  // namespace hocket::algorithms
