#include "passes/segment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.hpp"

namespace hocket::passes {

namespace {

using ir::Op;
using ir::OpCode;
using ir::Rank;
using ir::Region;
using ir::Schedule;

bool is_transfer(const Op& op) {
  return op.code == OpCode::send || op.code == OpCode::recv;
}

bool is_private(const Schedule& s) {
  for (const Op& op : s.ops)
    if (!is_transfer(op) && op.code != OpCode::copy && op.code != OpCode::reduce) return false;
  for (const Region& r : s.regions)
    if (r.owner != ir::self) return false;
  return true;
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

void check(const Schedule& s, std::uint32_t segments) {
  if (!is_vector(s.collective)) throw Error("only vectors can be segmented: blocks are given by the caller");
  if (segments == 0) throw Error("there is at least one segment");
  if (std::uint64_t{s.chunks} * segments > std::numeric_limits<std::uint32_t>::max())
    throw Error("too many segments");
  if (!is_private(s))
    throw Error("only schedules of send and recv can be segmented: staging is segmented by instances");
  std::vector<bool> met(static_cast<std::size_t>(s.ranks));
  for (const Op& op : s.ops) {
    if (!is_transfer(op)) continue;
    if (met.at(op.peer)) throw Error("a segmented schedule has one message per pair of ranks");
    met[op.peer] = true;
  }
}

class Segmenting {
 public:
  Segmenting(const Schedule& whole, std::uint32_t segments) : whole_(whole), segments_(segments) {
    cut_.collective = whole.collective;
    cut_.ranks = whole.ranks;
    cut_.rank = whole.rank;
    cut_.root = whole.root;
    cut_.chunks = whole.chunks * segments;
    cut_.staging = whole.staging;
    cut_.staging.first *= segments;
    cut_.staging.count *= segments;
    cut_.scratch_planes = whole.scratch_planes;
  }

  Schedule run() {
    const std::size_t rounds = whole_.rounds.size();
    if (rounds == 0) return std::move(cut_);
    for (std::size_t now = 0; now < rounds + segments_ - 1; ++now) {
      const std::size_t oldest =
          std::min(now, rounds - 1);  // round of the oldest segment, the one that others wait for
      const std::size_t newest = now < segments_ ? 0 : now - segments_ + 1;
      for (std::size_t back = 0; back <= oldest - newest; ++back)
        append_round(oldest - back, static_cast<std::uint32_t>(now - (oldest - back)));
      cut_.rounds.push_back(static_cast<std::uint32_t>(cut_.ops.size()));
    }
    return std::move(cut_);
  }

 private:
  void append_round(std::size_t round, std::uint32_t segment) {
    for (std::uint32_t i = round == 0 ? 0 : whole_.rounds[round - 1]; i < whole_.rounds[round]; ++i)
      append(whole_.ops[i], segment);
  }

  void append(const Op& whole, std::uint32_t segment) {
    if (is_transfer(whole)) {
      Op op = begin(whole);
      for (const Region& r : whole_.regions_of(whole))
        for (std::uint32_t i = 0; i < r.count; ++i) add(op, cut(r, i, segment));
      cut_.ops.push_back(op);
      return;
    }
    for (std::uint32_t i = 0; i < whole.target.count; ++i) {
      Op op = begin(whole);
      op.target = cut(whole.target, i, segment);
      for (const Region& r : whole_.regions_of(whole)) add(op, cut(r, i, segment));
      cut_.ops.push_back(op);
    }
  }

  Op begin(Op op) const {
    op.first_region = static_cast<std::uint32_t>(cut_.regions.size());
    op.regions = 0;
    return op;
  }

  void add(Op& op, const Region& r) {
    cut_.regions.push_back(r);
    ++op.regions;
  }

  /// Chunk n of plane k is k * N + n, so that this is right for planes too.
  Region cut(const Region& r, std::uint32_t i, std::uint32_t segment) const {
    return {r.owner, r.buffer, (r.first + i) * segments_ + segment, 1};
  }

  const Schedule& whole_;
  std::uint32_t segments_;
  Schedule cut_;
};

}  // namespace

bool can_segment(std::span<const Schedule> schedules) {
  Forest forest(schedules.size());
  for (const Schedule& s : schedules) {
    if (!is_vector(s.collective) || !is_private(s)) return false;
    for (const Op& op : s.ops)
      if (op.code == OpCode::send && !forest.connect(s.rank, op.peer)) return false;
  }
  return true;
}

Schedule segment(const Schedule& schedule, std::uint32_t segments) {
  check(schedule, segments);
  return segments == 1 ? schedule : Segmenting(schedule, segments).run();
}

}  // namespace hocket::passes
