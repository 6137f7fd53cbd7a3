// Aggregations on symbols: the result is one expression for all who want it, the fold of what the members
// contribute in the group's order.
#pragma once

#include <vector>

#include "ir/symbolic_memory.hpp"

namespace hocket::ir {

class SymbolicAggregations {
 public:
  SymbolicAggregations(const Program& program, SymbolicMemory& memory, Expressions& expressions)
      : program_(program), memory_(memory), expressions_(expressions), all_(program.aggregations()) {}

  /// From here on the source is read, and the target written.
  void start(Place place, const Op& op, AggregationId id);
  /// All members have started. `start`: where this rank did.
  void settle(Place start, const Op& op, AggregationId id);

 private:
  struct Aggregation {
    std::vector<std::vector<Value>> given;  ///< by members
    std::vector<Clocks::Snapshot> started_at;
    std::vector<Value> result;
  };

  /// The network reads and writes one place then: an aggregation in place.
  bool is_target(Rank rank, const Op& op, std::uint32_t i) const;
  void fold(Aggregation& aggregation);
  void learn(Place start, const Op& op, const Aggregation& aggregation, AggregationId id);

  const Program& program_;
  SymbolicMemory& memory_;
  Expressions& expressions_;
  std::vector<Aggregation> all_;
};

}  // namespace hocket::ir
