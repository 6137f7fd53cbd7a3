#include "executors/plan.hpp"

#include <algorithm>

namespace hocket::executors {

using ir::OpCode;

Plan::Plan(ir::Schedule s, std::vector<ir::Window> windows) : schedule(std::move(s)), staging(std::move(windows)) {
  for (const ir::Window& w : staging) staging_chunks = std::max(staging_chunks, w.count * w.planes);
  std::uint32_t op = 0;
  for (const std::uint32_t end : schedule.rounds) {
    std::uint32_t transfers = 0;
    std::uint32_t pieces = 0;
    for (; op < end; ++op) {
      const ir::Op& o = schedule.ops[op];
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
  if (pieces.size() < plan.most_pieces) pieces.resize(plan.most_pieces);
  if (sources.size() < plan.most_sources) sources.resize(plan.most_sources);
}

void Workspace::fit_scratch(std::size_t bytes) {
  if (scratch.size() < bytes) scratch.resize(bytes);
}

}  // namespace hocket::executors
