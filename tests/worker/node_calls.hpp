// Random calls of all ranks of a node, as these tell their worker.
#pragma once

#include <random>
#include <vector>

#include "algorithms/catalog.hpp"
#include "engine/handover/commands.hpp"
#include "engine/path.hpp"
#include "harness/calls.hpp"
#include "kernels/kernels.hpp"
#include "node.hpp"

namespace hocket::worker {

using algorithms::Algorithm;
using engine::Function;
using engine::handover::Define;

/// Whether a row of messages can carry the call out.
inline bool carries(const Algorithm& row, const harness::CallPlan& plan, ir::Collective collective) {
  const ir::Request request{collective, plan.ranks, 0, plan.root, true, algorithms::presets(row)};
  const bool sizes_are_known =
      plan.function == Function::allgatherv || plan.function == Function::reduce_scatter;
  const bool fits_sizes = !plan.is_v() || row.blocks == algorithms::Blocks::any ||
                          (row.blocks == algorithms::Blocks::known && sizes_are_known);
  return row.collective == collective && row.access == algorithms::Access::two_sided && fits_sizes &&
         algorithms::fits(row, request);
}

/// As the engine sees calls: no buffer where MPI says that it means nothing.
inline void leave_out_what_means_nothing(executors::Operation& op, ir::Rank rank) {
  using enum ir::Collective;
  const bool is_root = rank == op.root;
  if ((op.collective == reduce || op.collective == gather) && !is_root) op.output = nullptr;
  if (op.collective == exscan && rank == 0 && !op.in_place) op.output = nullptr;
  if (op.collective == scatter && !is_root) op.input = nullptr;
}

class NodeCall {
 public:
  NodeCall(std::mt19937_64& random, ir::Rank ranks, Function function, std::size_t most_elements,
           std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : plan_(harness::random_call(random, function, ranks, most_elements)) {
    plan_.op = harness::Operator::sum;
    for (ir::Rank rank = 0; rank < ranks; ++rank) data_.emplace_back(plan_, rank, memory);
  }

  std::vector<const Algorithm*> rows() const {
    std::vector<const Algorithm*> fitting;
    for (const Algorithm& row : algorithms::catalog())
      if (carries(row, plan_, data_[0].call().collective)) fitting.push_back(&row);
    return fitting;
  }
  const harness::CallData& data(ir::Rank rank) const { return data_[static_cast<std::size_t>(rank)]; }

  Define define(ir::Rank rank, const Algorithm& row, std::uint32_t number, std::uint32_t communicator) const {
    executors::Operation op = data(rank).call();
    leave_out_what_means_nothing(op, rank);
    if (ir::is_reduction(op.collective))
      op.reduction.kernel = kernels::find(kernels::OpKind::sum, kernels::ElementType::u64);
    Define define;
    define.number = number;
    define.communicator = communicator;
    define.algorithm = row.name;
    define.parameters = algorithms::presets(row);
    define.copies_input = engine::copies_input(row);
    engine::handover::describe(op, plan_.ranks, define);
    return define;
  }

 private:
  harness::CallPlan plan_;
  std::vector<harness::CallData> data_;
};

/// Opens a communicator of these members, at the desks of all of them.
inline void open(Node& node, std::uint32_t number, std::uint64_t id, const std::vector<ir::Rank>& members) {
  for (std::size_t i = 0; i < members.size(); ++i)
    node.tell(members[i], engine::handover::Open{number, {id, 0}, static_cast<ir::Rank>(i), members});
}

}  // namespace hocket::worker
