#include "algorithms/builders.hpp"

namespace hocket::algorithms {

void build_allgather_recursive_doubling(const Request& r, Builder& b) {
  b.copy(ir::output(r.rank), ir::input(r.rank));
  for (Rank distance = 1; distance < r.ranks; distance *= 2) {
    const Rank mine = r.rank / distance * distance;
    const Rank partner = r.rank ^ distance;
    b.send(partner, ir::output(mine, distance));
    b.recv(partner, ir::output(mine ^ distance, distance));
    b.round();
  }
}

}  // namespace hocket::algorithms
