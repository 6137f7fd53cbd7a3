// What the hierarchies of all collectives have in common: who takes part on which level, and how a flat
// schedule of some ranks becomes a part of the whole.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "ir/builder.hpp"
#include "passes/hierarchy.hpp"

namespace hocket::passes {

class Composer {
 public:
  /// What stands for a chunk of a part's buffer, which is not its scratch: a region of the same size.
  using Place = std::function<ir::Region(ir::Buffer buffer, std::uint32_t chunk)>;
  using Regions = std::vector<ir::Region>;
  using Append = std::function<void(ir::Buffer buffer, std::uint32_t index, Regions& regions)>;

  Composer(const ir::Request& request, const Groups& groups, const Parts& parts, std::uint32_t turn);
  ir::Schedule finish();

  Rank rank() const { return request_.rank; }
  bool is_root() const { return root() == rank(); }
  std::uint32_t chunks() const { return whole_.chunks; }
  const Groups& groups() const { return groups_; }

  /// The level of the outermost leaders.
  std::size_t top() const { return groups_.levels(); }
  /// The levels inside groups on which this rank takes part, from 0 on; the last of them as a follower,
  /// unless it reaches the top.
  std::size_t levels_inside() const { return std::min(reach_ + 1, top()); }
  bool reaches_top() const { return reach_ == top(); }
  bool leads() const { return reach_ > 0; }
  std::vector<Rank> members(std::size_t level) const { return groups_.members(level, rank(), root(), turn_); }
  /// The ranks that a member of a level speaks for.
  std::vector<Rank> spoken_for_by(std::size_t level, Rank member) const;

  /// Planes of scratch that the whole keeps for itself. Before the first part.
  void keep_planes(std::uint32_t planes);
  ir::Region kept(std::uint32_t plane, std::uint32_t first, std::uint32_t count = 1) const;
  /// A part's own scratch, which lies behind them.
  ir::Region scratch(std::uint32_t plane, std::uint32_t first, std::uint32_t count) const;

  /// Parts of whole vectors: each chunk of theirs is so many of the whole's.
  void add_of_vectors(ir::Collective collective, std::size_t level, const Place& place);
  /// Parts of blocks: a member's block is those of all whom it speaks for.
  void add_of_blocks(ir::Collective collective, std::size_t level, const Place& place);
  /// Parts of anything else, by what `append` says of each chunk. Such a part may keep partial results in its
  /// scratch, but no blocks of others, whose sizes only it knows; unless `append` knows them, too, and finds
  /// them a place in as many planes for each of the part's.
  void add(ir::Collective collective, std::size_t level, const Append& append,
           std::uint32_t planes_for_each = 0);

 private:
  /// Collectives without a root: the turn says who leads.
  static constexpr Rank no_root = -1;
  Rank leader(std::size_t level) const { return groups_.leader(level, rank(), root(), turn_); }
  Rank root() const { return ir::is_rooted(request_.collective) ? request_.root : no_root; }
  ir::Request request_of(ir::Collective collective, const std::vector<Rank>& members, Rank who,
                         Rank led_by) const;
  std::uint32_t chunks_of_whole() const;
  ir::Schedule part(ir::Collective collective, std::size_t level) const;
  void add(const ir::Schedule& part, std::size_t level, const Append& append, std::uint32_t scratch_planes);

  const ir::Request request_;
  const Groups& groups_;
  const Parts& parts_;
  const std::uint32_t turn_;
  std::size_t reach_ = 0;
  std::uint32_t own_planes_ = 0;
  ir::Schedule whole_;
  ir::Builder builder_;
};

// One file each.
void compose_barrier(Composer& whole);
void compose_bcast(Composer& whole);
void compose_reduce(Composer& whole);
void compose_allreduce(Composer& whole);
void compose_gather(Composer& whole);
void compose_gather_in_groups(Composer& whole);
void compose_scatter(Composer& whole);
void compose_allgather(Composer& whole);
void compose_alltoall(Composer& whole);
void compose_reduce_scatter(Composer& whole);

/// Folds towards the leaders, below the top. Partial results lie in `target` from the first fold on; what the
/// rank has to give in the end is returned.
std::function<ir::Region(std::uint32_t)> fold_up(Composer& whole,
                                                 const std::function<ir::Region(std::uint32_t)>& target);

}  // namespace hocket::passes
