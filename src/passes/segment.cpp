#include "passes/segment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "passes/fused_round.hpp"

namespace hocket::passes {

namespace {

using ir::Op;
using ir::OpCode;
using ir::Rank;
using ir::Region;
using ir::Schedule;

bool is_in_a_plane(const Schedule& s, const Region& r) {
  return r.count <= s.chunks - r.first % s.chunks;
}

bool is_private(const Schedule& s) {
  if (s.staging.count > 0) return false;
  for (const Op& op : s.ops) {
    const bool is_local = op.code == OpCode::copy || op.code == OpCode::reduce;
    if (!is_transfer(op) && !is_of_aggregation(op) && !is_local) return false;
    if (op.held > 0) return false;  // fused recvs would be fewer
    if (has_target(op) && !is_in_a_plane(s, op.target)) return false;
  }
  return std::ranges::all_of(s.regions,
                             [&](const Region& r) { return r.owner == ir::self && is_in_a_plane(s, r); });
}

/// Sets of ranks that messages connect.
class Forest {
 public:
  explicit Forest(std::size_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0u); }

  /// False if they were connected already: the edge closes a cycle.
  bool connect(Rank a, Rank b) {
    const std::size_t root_a = root(a), root_b = root(b);
    parent_[root_a] = root_b;
    return root_a != root_b;
  }

 private:
  std::size_t root(std::size_t r) {
    while (parent_[r] != r) r = parent_[r] = parent_[parent_[r]];
    return r;
  }

  std::vector<std::size_t> parent_;
};

void check(const Schedule& s, Segmentation cut) {
  if (!is_vector(s.collective)) throw Error("only vectors can be segmented: blocks are given by the caller");
  if (cut.segments == 0) throw Error("there is at least one segment");
  if (cut.apart == 0) throw Error("segments are at least one round apart");
  if (std::uint64_t{s.chunks} * cut.segments > std::numeric_limits<std::uint32_t>::max())
    throw Error("too many segments");
  if (!is_private(s))
    throw Error(
        "only schedules of send, recv and aggregations can be segmented: staging is segmented by instances");
}

void check_tree(const Schedule& s) {
  std::vector<bool> met(static_cast<std::size_t>(s.ranks));
  for (const Op& op : s.ops) {
    if (is_of_aggregation(op)) throw Error("segments of aggregations need the times of all ranks");
    if (!is_transfer(op)) continue;
    if (met.at(op.peer)) throw Error("a segmented schedule has one message per pair of ranks");
    met[op.peer] = true;
  }
}

/// The times of a rank that does one round after the other.
std::vector<std::uint32_t> own_times(const Schedule& s) {
  std::vector<std::uint32_t> times(s.rounds.size());
  std::iota(times.begin(), times.end(), 0U);
  return times;
}

class Segmenting {
 public:
  Segmenting(const Schedule& whole, std::span<const std::uint32_t> times, Segmentation cut)
      : whole_(whole), times_(times), segments_(cut.segments), apart_(cut.apart) {
    cut_.collective = whole.collective;
    cut_.ranks = whole.ranks;
    cut_.rank = whole.rank;
    cut_.root = whole.root;
    cut_.chunks = whole.chunks * segments_;
    cut_.scratch_planes = whole.scratch_planes;
    cut_.groups = whole.groups;
  }

  Schedule run() {
    if (times_.empty()) return std::move(cut_);
    const std::uint32_t last = times_.back() + (segments_ - 1) * apart_;
    for (std::uint32_t now = times_.front(); now <= last; ++now) append_time(now);
    return std::move(cut_);
  }

 private:
  /// The oldest segment first, the one that others wait for.
  void append_time(std::uint32_t now) {
    bool any = false;
    const std::uint32_t ended = now <= times_.back() ? 0 : (now - times_.back() + apart_ - 1) / apart_;
    for (std::uint32_t segment = ended; segment < segments_ && segment * apart_ <= now; ++segment) {
      const std::uint32_t then = now - segment * apart_;
      const auto round = std::ranges::lower_bound(times_, then);
      if (round == times_.end() || *round != then) continue;
      append_round(static_cast<std::size_t>(round - times_.begin()), segment);
      any = true;
    }
    if (any) fused_.append_to(cut_);
  }

  void append_round(std::size_t round, std::uint32_t segment) {
    for (std::uint32_t i = round == 0 ? 0 : whole_.rounds[round - 1]; i < whole_.rounds[round]; ++i)
      append(whole_.ops[i], segment);
  }

  void append(const Op& whole, std::uint32_t segment) {
    Op op = whole;
    if (is_of_aggregation(op)) op.step = whole.step * segments_ + segment;  // each segment's are of its own
    if (has_target(op)) op.target = cut(whole.target, segment);
    std::vector<Region> regions;
    for (const Region& r : whole_.regions_of(whole)) regions.push_back(cut(r, segment));
    fused_.add(op, std::move(regions));
  }

  /// A segment has all chunks of the whole, in their order: what is in one place there is so here. Chunk n of
  /// plane k is k * N + n.
  Region cut(Region r, std::uint32_t segment) const {
    const std::uint32_t plane = r.first / whole_.chunks, chunk = r.first % whole_.chunks;
    r.first = (plane * segments_ + segment) * whole_.chunks + chunk;
    return r;
  }

  const Schedule& whole_;
  std::span<const std::uint32_t> times_;
  std::uint32_t segments_;
  std::uint32_t apart_;
  FusedRound fused_;
  Schedule cut_;
};

}  // namespace

bool can_segment_aligned(std::span<const Schedule> schedules) {
  return std::ranges::all_of(schedules,
                             [](const Schedule& s) { return is_vector(s.collective) && is_private(s); });
}

bool can_segment(std::span<const Schedule> schedules) {
  if (!can_segment_aligned(schedules)) return false;
  Forest forest(schedules.size());
  for (const Schedule& s : schedules)
    for (const Op& op : s.ops)
      if (is_of_aggregation(op) || (op.code == OpCode::send && !forest.connect(s.rank, op.peer)))
        return false;
  return true;
}

Schedule segment(const Schedule& schedule, Segmentation cut) {
  check(schedule, cut);
  check_tree(schedule);
  return cut.segments == 1 ? schedule : Segmenting(schedule, own_times(schedule), cut).run();
}

Schedule segment_aligned(const Schedule& schedule, std::span<const std::uint32_t> times, Segmentation cut) {
  check(schedule, cut);
  if (times.size() != schedule.rounds.size()) throw Error("each round has a time");
  return cut.segments == 1 ? schedule : Segmenting(schedule, times, cut).run();
}

}  // namespace hocket::passes
