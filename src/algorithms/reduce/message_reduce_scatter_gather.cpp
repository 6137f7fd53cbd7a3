// A rank's slice is a run of chunks. Others' parts of it lie where its chunks are, each in a plane of its
// own: one reduction folds them all in the order of ranks. Most of the planes is never touched.
#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/formulas.hpp"

namespace hocket::algorithms {
namespace {

using ir::Region;

Region slice_in(RegionOf buffer, const Request& r, Rank of, std::uint32_t plane = 0) {
  const Range slice = slice_of(r, of);
  return buffer(plane * count_of(sliced_chunks(r)) + count_of(slice.first), count_of(slice.count()));
}

/// Brings each rank what all have of its slice: this rank's operands.
std::vector<Region> exchange(const Request& r, Builder& b) {
  std::vector<Region> operands;
  for (Rank peer = 0; peer < r.ranks; ++peer) {
    const auto plane = static_cast<std::uint32_t>(peer < r.rank ? peer : peer - 1);
    operands.push_back(peer == r.rank ? slice_in(ir::input, r, peer)
                                      : slice_in(ir::scratch, r, r.rank, plane));
  }
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank to = after(r.rank, distance, r.ranks), from = before(r.rank, distance, r.ranks);
    b.send(to, slice_in(ir::input, r, to));
    b.recv(from, operands[static_cast<std::size_t>(from)]);
  }
  b.round();
  return operands;
}

}  // namespace

void build_reduce_message_reduce_scatter_gather(const Request& r, Builder& b) {
  const bool at_root = r.rank == r.root;
  const std::vector<Region> operands = exchange(r, b);
  const Region folded = slice_in(at_root ? ir::output : ir::scratch, r, r.rank);
  b.reduce(folded, operands);
  if (!at_root) return b.send(r.root, folded);
  for (Rank distance = 1; distance < r.ranks; ++distance) {
    const Rank peer = before(r.rank, distance, r.ranks);
    b.recv(peer, slice_in(ir::output, r, peer));
  }
}

}  // namespace hocket::algorithms
