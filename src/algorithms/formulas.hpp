// Formulas that rows of the catalog share: windows of staging, numbers of chunks, rounds and received chunks.
#pragma once

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/bruck.hpp"
#include "algorithms/patterns/fold_in.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/halving.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/ring.hpp"

namespace hocket::algorithms {

constexpr std::uint32_t count_of(Rank n) {
  return static_cast<std::uint32_t>(n);
}

constexpr bool alone(const Request& r) {
  return r.ranks == 1;
}

// Windows of staging.
constexpr ir::Window whole(std::uint32_t chunks) {
  return {0, chunks, 1};
}
constexpr ir::Window nothing() {
  return {0, 0, 1};
}
constexpr ir::Window whole_vector(const Request& r) {
  return alone(r) ? nothing() : whole(1);
}
constexpr ir::Window all_chunks(const Request& r) {
  return alone(r) ? nothing() : whole(count_of(r.ranks));
}
constexpr ir::Window own_block(const Request& r) {
  return alone(r) ? nothing() : ir::Window{count_of(r.rank), 1, 1};
}

/// Slices of multi-leader rows: never more leaders than ranks.
constexpr Rank leaders_of(const Request& r) {
  return r.parameters[0] < r.ranks ? r.parameters[0] : r.ranks;
}
/// Leaders are spread evenly over the ranks, so that they sit on different sockets.
constexpr Rank leader_rank(const Request& r, Rank slice) {
  return static_cast<Rank>(std::int64_t{slice} * r.ranks / leaders_of(r));
}
/// The slice that a rank leads, or -1.
constexpr Rank slice_led(const Request& r) {
  for (Rank slice = 0; slice < leaders_of(r); ++slice)
    if (leader_rank(r, slice) == r.rank) return slice;
  return -1;
}

/// Slices of rows in which every rank folds one: runs of chunks, of which there are as many as ranks at
/// least.
constexpr Rank sliced_chunks(const Request& r) {
  return r.parameters[0] > r.ranks ? r.parameters[0] : r.ranks;
}
constexpr Range slice_of(const Request& r, Rank rank) {
  const auto begin = [&](std::int64_t of) { return static_cast<Rank>(of * sliced_chunks(r) / r.ranks); };
  return {begin(rank), begin(rank + 1)};
}
constexpr Rank received_of_slices(const Request& r) {
  const Rank own = slice_of(r, r.rank).count();
  return own * (r.ranks - 1) + (r.rank == r.root ? sliced_chunks(r) - own : 0);
}

/// Rounds of algorithms on a power of two of places, with `outside` rounds more where other ranks fold in.
constexpr Rank recursive_rounds(Rank ranks, Rank inside, Rank outside) {
  return inside * ceil_log(2, floor_power_of_two(ranks)) + (is_power_of_two(ranks) ? 0 : outside);
}

/// Trees of block and vector rows: one round to receive, one to send on; a star has no rank that does both.
constexpr Rank tree_rounds(const Request& r) {
  return r.ranks > r.parameters[0] + 1 ? 2 : 1;
}

/// Where the tree of a reduction has its root: rank 0 keeps the order of ranks.
constexpr Rank tree_top(const Request& r) {
  return r.commutative ? r.root : 0;
}

inline Rank tree_children(const Request& r) {
  const KnomialTree tree(r.parameters[0], r.ranks);
  return static_cast<Rank>(tree.children(place_of(r.rank, tree_top(r), r.ranks)).size());
}

/// Blocks of a rank's subtree, its own included.
inline Rank blocks_below(const Request& r) {
  return KnomialTree(r.parameters[0], r.ranks).subtree(place_of(r.rank, r.root, r.ranks)).count;
}

/// What a rank receives in recursive halving of blocks.
constexpr Rank halving_blocks(const Request& r) {
  const FoldIn fold(r.ranks);
  if (fold.gives(r.rank)) return 1;
  Rank blocks = fold.takes(r.rank) ? r.ranks : 0;
  Range held{0, fold.places()};
  for (Rank distance = fold.places() / 2; distance > 0; distance /= 2) {
    held = kept(held, fold.place(r.rank), distance);
    blocks += fold.first_rank(held.end) - fold.first_rank(held.first);
  }
  return blocks;
}

}  // namespace hocket::algorithms
