// Random calls of all ranks of a node, as these tell their worker.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "engine/function_table.hpp"
#include "engine/handover/commands.hpp"
#include "engine/path.hpp"
#include "harness/calls.hpp"
#include "kernels/kernels.hpp"
#include "node.hpp"
#include "passes/neighbourhood.hpp"
#include "tuning/parse_recipe.hpp"

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

  /// Recipes of these ranks with the row, flat and along the machine.
  std::vector<std::string> recipes(const Algorithm& row, const passes::Neighbourhood& near) const {
    std::vector<std::string> fitting{std::string(row.name)};
    const ir::Request request{row.collective, plan_.ranks, 0, plan_.root, true, {}};
    for (const char* const words : {" by nodes", " by nodes in 2 segments", " by nodes with 2 leaders",
                                    " in 3 segments", " reordered", " by nodes reordered"})
      try {
        const std::string text = std::string(row.name) + words;
        const passes::Recipe recipe = tuning::parse_recipe(row.collective, text);
        const bool is_told = recipe.by.empty() || engine::sizes_known(plan_.function);
        if (is_told && passes::misfit(recipe, request, &near) == passes::Misfit::none)
          fitting.push_back(text);
      } catch (const Error&) {
        continue;  // not for such a row
      }
    return fitting;
  }

  Define define(ir::Rank rank, const Algorithm& row, std::uint32_t number, std::uint32_t communicator,
                std::string_view recipe = {}) const {
    executors::Operation op = data(rank).call();
    leave_out_what_means_nothing(op, rank);
    if (ir::is_reduction(op.collective))
      op.reduction.kernel = kernels::find(kernels::OpKind::sum, kernels::ElementType::u64);
    Define define;
    define.number = number;
    define.communicator = communicator;
    define.recipe = recipe.empty() ? row.name : recipe;
    define.copies_input = engine::copies_input(row);
    engine::handover::describe(op, plan_.ranks, define);
    return define;
  }

 private:
  harness::CallPlan plan_;
  std::vector<harness::CallData> data_;
};

/// Opens a communicator of these members, at the desks of all of them. `nodes`: that they seem to be on.
inline void open(Node& node, std::uint32_t number, std::uint64_t id, const std::vector<ir::Rank>& members,
                 const passes::GroupNumbers& nodes = {}) {
  for (std::size_t i = 0; i < members.size(); ++i)
    node.tell(members[i],
              engine::handover::Open{
                  number, {id, 0}, static_cast<ir::Rank>(i), members, nodes.empty() ? 0U : 1U, nodes});
}

}  // namespace hocket::worker
