#include "ir/program.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "ir/text.hpp"

namespace hocket::ir {

namespace {

bool contains(const Window& w, std::uint32_t chunk) {
  return chunk >= w.first && chunk - w.first < w.count;
}

std::string chunk_name(const Region& r, std::uint32_t n) {
  return to_text(Region{r.owner, r.buffer, n, 1});
}

}  // namespace

Program::Program(std::span<const Schedule> schedules, Sizes sizes, bool in_place)
    : schedules_(schedules), sizes_(sizes), in_place_(in_place) {
  if (schedules.empty()) throw Error("no schedules");
  std::size_t ops = 0;
  for (Rank r = 0; r < ranks(); ++r) {
    check_header(of(r), r);
    check_groups(of(r));
    first_op_.push_back(ops);
    ops += of(r).ops.size();
  }
  for (Rank r = 0; r < ranks(); ++r)
    for (std::uint32_t i = 0; i < of(r).ops.size(); ++i) check_op({r, i});
  number_of_op_.resize(ops);
  match_messages();
  match_aggregations();
}

Window Program::input(Rank rank) const {
  return input_window(collective(), ranks(), rank, of(rank).root, chunks());
}

Window Program::output(Rank rank) const {
  return output_window(collective(), ranks(), rank, of(rank).root, chunks());
}

bool Program::aliased(Rank rank, std::uint32_t chunk) const {
  // In-place reduce_scatter puts block r at the start of the vector, over another block: the engine copies
  // the input then.
  if (!in_place_ || collective() == Collective::reduce_scatter) return false;
  return contains(input(rank), chunk) && contains(output(rank), chunk);
}

bool Program::exists(Rank rank, Buffer buffer, std::uint32_t n) const {
  const std::uint32_t chunk = n % chunks();
  const std::uint32_t plane = n / chunks();
  switch (buffer) {
    case Buffer::input:
      return plane == 0 && contains(input(rank), chunk);
    case Buffer::output:
      return plane == 0 && contains(output(rank), chunk);
    case Buffer::staging:
      return plane < of(rank).staging.planes && contains(of(rank).staging, chunk);
    case Buffer::scratch:
      return plane < of(rank).scratch_planes;
  }
  return false;
}

std::uint32_t Program::round_of(Place p) const {
  const auto& ends = of(p.rank).rounds;
  return static_cast<std::uint32_t>(std::ranges::upper_bound(ends, p.op) - ends.begin());
}

std::string Program::name_of(Place p) const {
  return place_name(of(p.rank), p.op);
}

void Program::fail(Place p, const std::string& what) const {
  throw Error(name_of(p) + ": " + what);
}

void Program::check_header(const Schedule& s, Rank rank) const {
  const Schedule& first = schedules_.front();
  auto require = [&](bool right, const char* what) {
    if (!right) throw Error("rank " + std::to_string(rank) + ": " + what);
  };
  require(s.collective == first.collective && s.ranks == first.ranks && s.root == first.root &&
              s.chunks == first.chunks,
          "its schedule is of another operation than rank 0's");
  require(s.ranks == ranks() && s.rank == rank, "its schedule names another rank or number of ranks");
  require(s.root >= 0 && s.root < s.ranks, "the root is not a rank");
  require(!is_blocks(s.collective) || s.chunks == static_cast<std::uint32_t>(s.ranks),
          "block collectives have one chunk per rank");
  require(!is_vector(s.collective) || s.chunks > 0, "a vector has at least one chunk");
  require(std::uint64_t{s.staging.first} + s.staging.count <= s.chunks,
          "the staging window exceeds the chunks");
  constexpr std::uint64_t most_planes = 1 << 16;
  require(s.staging.planes <= most_planes && s.scratch_planes <= most_planes, "too many planes");
  require(std::ranges::adjacent_find(s.rounds, std::greater_equal<>()) == s.rounds.end() &&
              (s.rounds.empty() || s.rounds.front() > 0),
          "rounds are empty or do not ascend");
  require((s.rounds.empty() ? 0 : s.rounds.back()) == s.ops.size(),
          "the last round does not end with the last op");
}

void Program::check_op(Place p) const {
  const Op& o = op(p);
  if (std::uint64_t{o.first_region} + o.regions > of(p.rank).regions.size())
    throw Error("rank " + std::to_string(p.rank) + ", op " + std::to_string(p.op) +
                ": its regions do not exist");
  switch (o.code) {
    case OpCode::send:
    case OpCode::recv:
      return check_pieces(p);
    case OpCode::copy:
    case OpCode::read:
    case OpCode::reduce:
      return check_sources(p);
    case OpCode::expose:
      if (o.target.owner != self || o.target.buffer == Buffer::staging || o.target.buffer == Buffer::scratch)
        fail(p, "only the own input and output can be exposed");
      return check_region(p, o.target);
    case OpCode::aggregate:
      return check_aggregate(p);
    case OpCode::settle:
      if (o.group >= of(p.rank).groups.size()) fail(p, "there is no such group");
      return;
    case OpCode::signal:
      return;
    case OpCode::wait:
      if (o.peer != everyone && (o.peer < 0 || o.peer >= ranks())) fail(p, "the peer is not a rank");
      return;
  }
}

void Program::check_pieces(Place p) const {
  const Op& o = op(p);
  if (o.peer < 0 || o.peer >= ranks()) fail(p, "the peer is not a rank");
  if (o.peer == p.rank) fail(p, "a rank cannot send to itself");
  for (const Region& r : of(p.rank).regions_of(o)) {
    if (r.owner != self) fail(p, to_text(r) + " is not the rank's own");
    if (o.code == OpCode::recv && r.buffer == Buffer::input) fail(p, "writes the input");
    check_region(p, r);
  }
}

void Program::check_sources(Place p) const {
  const Op& o = op(p);
  const auto sources = of(p.rank).regions_of(o);
  if (o.target.owner != self) fail(p, "writes into the memory of a peer");
  if (o.target.buffer == Buffer::input) fail(p, "writes the input");
  if (sources.empty()) fail(p, "has no source");
  if (o.code != OpCode::reduce && sources.size() != 1) fail(p, "has more than one source");
  check_region(p, o.target);
  for (const Region& r : sources) {
    check_region(p, r);
    if (r.count != o.target.count) fail(p, to_text(r) + " has another number of chunks than the target");
    if (o.code == OpCode::copy && r.owner != self) fail(p, "copies from a peer: that is a read");
    if (o.code == OpCode::read && r.owner == self) fail(p, "reads from itself: that is a copy");
    for (std::uint32_t i = 0; i < r.count; ++i)
      if (size_identity(p.rank, r, r.first + i) != size_identity(p.rank, o.target, o.target.first + i))
        fail(p, chunk_name(r, r.first + i) + " has another size than " +
                    chunk_name(o.target, o.target.first + i));
  }
}

void Program::check_region(Place p, const Region& r) const {
  if (r.owner != self && (r.owner < 0 || r.owner >= ranks() || r.owner == p.rank))
    fail(p, "the owner of " + to_text(r) + " is not a peer");
  if (r.owner != self && r.buffer == Buffer::scratch) fail(p, to_text(r) + " is private");
  if (chunks() == 0) fail(p, "there is no data in this operation");
  if (std::uint64_t{r.first} + r.count > std::numeric_limits<std::uint32_t>::max())
    fail(p, to_text(r) + " is outside of its window");
  for (std::uint32_t n = r.first; n < r.first + r.count; ++n) {
    if (!exists(r.owner == self ? p.rank : r.owner, r.buffer, n))
      fail(p, chunk_name(r, n) + " is outside of its window");
    check_size_known(p, r, n);
  }
}

void Program::check_size_known(Place p, const Region& r, std::uint32_t n) const {
  if (sizes_ != Sizes::own) return;
  const Collective c = collective();
  const auto rank = static_cast<std::uint32_t>(p.rank);
  const bool rooted = c == Collective::gather || c == Collective::scatter;
  const bool strange = (rooted && p.rank != of(p.rank).root && n % chunks() != rank) ||
                       (c == Collective::alltoall && r.owner != self && n % chunks() != rank);
  if (strange) fail(p, "the rank does not know the size of " + chunk_name(r, n));
}

std::uint64_t Program::size_identity(Rank runs, const Region& r, std::uint32_t n) const {
  const std::uint32_t chunk = n % chunks();
  if (collective() != Collective::alltoall)
    return is_blocks(collective()) && sizes_ == Sizes::equal ? 0 : chunk;
  if (sizes_ == Sizes::equal) return 0;
  // A block of alltoall is a pair of ranks: from, to. In place, both directions have one size.
  auto from = static_cast<std::uint64_t>(r.owner == self ? runs : r.owner);
  std::uint64_t to = chunk;
  if (r.buffer == Buffer::output) std::swap(from, to);
  if (in_place_ && from > to) std::swap(from, to);
  return from << 32 | to;
}

}  // namespace hocket::ir
