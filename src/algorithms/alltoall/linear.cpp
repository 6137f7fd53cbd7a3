#include <algorithm>

#include "algorithms/builders.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

/// What everybody sends at once waits in the switches' queues: longer than TCP's shortest timeout (200 ms) it
/// is sent again, needlessly. A window bounds that. The block from distance d is sent when its sender has
/// received d - window blocks, so no two can wait for each other.
void build_alltoall_linear(const Request& r, Builder& b) {
  const Rank window = r.parameters[0] == 0 ? r.ranks : r.parameters[0];
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank target = after(r.rank, distance, r.ranks);
    const Rank origin = before(r.rank, distance, r.ranks);
    b.recv(origin, ir::output(origin));
    b.send(target, ir::input(target), static_cast<std::uint32_t>(std::max(distance - window, 0)));
  }
  b.copy(ir::output(r.rank), ir::input(r.rank));
}

}  // namespace hocket::algorithms
