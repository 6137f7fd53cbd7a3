#include "executors/plan.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hocket::executors {

using ir::OpCode;

namespace {

bool is_peers_user_memory(const ir::Region& r) {
  return r.owner != ir::self && r.buffer != ir::Buffer::staging;
}

bool reads_user_memory(const ir::Schedule& s, const ir::Op& op) {
  return std::ranges::any_of(s.regions_of(op), is_peers_user_memory);
}

/// Their chunks are at several places.
bool has_several_blocks(const ir::Schedule& s, const ir::Op& op) {
  const auto several = [](const ir::Region& r) { return r.count > 1; };
  return ir::is_blocks(s.collective) &&
         (several(op.target) || std::ranges::any_of(s.regions_of(op), several));
}

/// At most at a time: a settle ends with its round.
std::uint32_t most_aggregations_of(const ir::Schedule& s) {
  std::uint32_t under_way = 0, most = 0, op = 0;
  for (const std::uint32_t end : s.rounds) {
    std::uint32_t settled = 0;
    for (; op < end; ++op) {
      if (s.ops[op].code == OpCode::settle) ++settled;
      if (s.ops[op].code != OpCode::aggregate) continue;
      if (has_several_blocks(s, s.ops[op])) throw Error("an aggregation of several blocks");
      most = std::max(most, ++under_way);
    }
    under_way -= std::min(under_way, settled);
  }
  return most;
}

std::vector<std::uint32_t> aggregations_of(const ir::Schedule& s) {
  std::vector<std::uint32_t> of_groups(s.groups.size(), 0);
  for (const ir::Op& op : s.ops)
    if (op.code == OpCode::aggregate) ++of_groups[op.group];
  return of_groups;
}

}  // namespace

Plan::Plan(ir::Schedule s, std::vector<ir::Window> windows)
    : schedule(std::move(s)), staging(std::move(windows)) {
  for (const ir::Window& w : staging) staging_chunks = std::max(staging_chunks, w.count * w.planes);
  most_aggregations = most_aggregations_of(schedule);
  aggregations = aggregations_of(schedule);
  std::uint32_t op = 0;
  for (const std::uint32_t end : schedule.rounds) {
    std::uint32_t transfers = 0;
    std::uint32_t pieces = 0;
    for (; op < end; ++op) {
      const ir::Op& o = schedule.ops[op];
      if (o.code == OpCode::expose || reads_user_memory(schedule, o)) single_copy = true;
      if (o.code == OpCode::reduce && reads_user_memory(schedule, o))
        throw Error("a reduction reads a peer's user memory");
      if (o.code == OpCode::reduce) most_sources = std::max(most_sources, o.regions);
      if (o.code != OpCode::send && o.code != OpCode::recv) continue;
      ++transfers;
      for (const ir::Region& r : schedule.regions_of(o)) pieces += r.count;
    }
    most_transfers = std::max(most_transfers, transfers);
    most_pieces = std::max(most_pieces, pieces);
  }
}

void Workspace::fit(const Plan& plan) {
  if (transfers.size() < plan.most_transfers) transfers.resize(plan.most_transfers);
  if (is_send.size() < plan.most_transfers) is_send.resize(plan.most_transfers);
  if (held.size() < plan.most_transfers) held.resize(plan.most_transfers);
  if (pieces.size() < plan.most_pieces) pieces.resize(plan.most_pieces);
  if (sources.size() < plan.most_sources) sources.resize(plan.most_sources);
  if (aggregations.size() < plan.most_aggregations) aggregations.resize(plan.most_aggregations);
}

void Workspace::fit_scratch(std::size_t bytes) {
  if (scratch_bytes_ >= bytes) return;
  scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  scratch_bytes_ = bytes;
}

}  // namespace hocket::executors
