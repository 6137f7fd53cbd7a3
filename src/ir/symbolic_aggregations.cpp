#include "ir/symbolic_aggregations.hpp"

namespace hocket::ir {

using By = SymbolicMemory::By;

bool SymbolicAggregations::is_target(Rank rank, const Op& op, std::uint32_t i) const {
  if (op.target.count == 0) return false;
  const Region& source = program_.of(rank).regions_of(op)[0];
  return memory_.locate(rank, source, source.first + i).cell ==
         memory_.locate(rank, op.target, op.target.first + i).cell;
}

void SymbolicAggregations::start(Place place, const Op& op, AggregationId id) {
  Aggregation& aggregation = all_[id];
  const std::size_t member = program_.member(id, place.rank);
  aggregation.given.resize(program_.starts(id).size());
  aggregation.started_at.resize(program_.starts(id).size());
  for (const Region& r : program_.of(place.rank).regions_of(op)) {
    memory_.check_overlap(place, op.target, r);
    for (std::uint32_t i = 0; i < r.count; ++i)
      aggregation.given[member].push_back(is_target(place.rank, op, i)
                                              ? memory_.load(place, r, r.first + i)
                                              : memory_.begin_send(place, r, r.first + i, By::aggregation));
  }
  for (std::uint32_t i = 0; i < op.target.count; ++i)
    memory_.begin_recv(place, op.target, op.target.first + i, By::aggregation);
  memory_.clocks().tick(place.rank);
  aggregation.started_at[member] = memory_.clocks().of(place.rank);
}

void SymbolicAggregations::settle(Place start, const Op& op, AggregationId id) {
  Aggregation& aggregation = all_[id];
  if (aggregation.result.empty()) fold(aggregation);
  learn(start, op, aggregation, id);
  for (const Region& r : program_.of(start.rank).regions_of(op))
    for (std::uint32_t i = 0; i < r.count; ++i)
      if (!is_target(start.rank, op, i)) memory_.end_send(start, r, r.first + i);
  for (std::uint32_t i = 0; i < op.target.count; ++i)
    memory_.end_recv(start, op.target, op.target.first + i, aggregation.result[i]);
}

void SymbolicAggregations::fold(Aggregation& aggregation) {
  for (const auto& values : aggregation.given)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i == aggregation.result.size())
        aggregation.result.push_back(values[i]);
      else
        aggregation.result[i] = expressions_.fold(aggregation.result[i], values[i]);
}

/// Whom a member has heard of when it has settled: everyone, or the root, who alone hears of everyone.
void SymbolicAggregations::learn(Place start, const Op& op, const Aggregation& aggregation,
                                 AggregationId id) {
  const Collective kind = kind_of(program_.of(start.rank), op);
  const bool hears_of_all = kind == Collective::allreduce || kind == Collective::barrier ||
                            (kind == Collective::reduce && op.peer == start.rank);
  for (std::size_t i = 0; i < aggregation.started_at.size(); ++i)
    if (hears_of_all || (kind == Collective::bcast && program_.starts(id)[i].rank == op.peer))
      memory_.clocks().merge(start.rank, aggregation.started_at[i]);
}

}  // namespace hocket::ir
