// One way to run calls of one kind.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "algorithms/catalog.hpp"
#include "engine/compiled/flat.hpp"
#include "engine/report.hpp"
#include "engine/sizes_ahead.hpp"
#include "executors/plan.hpp"
#include "passes/recipe.hpp"

namespace hocket::engine {

struct Handed {
  passes::Recipe recipe;
  std::string_view text;  ///< its own, which lives as long as the rules
};

struct Path {
  const compiled::FlatPlan* flat = nullptr;          ///< compiled plan, or
  std::size_t published = 0;                         ///< (what a rank publishes at most in it)
  std::shared_ptr<const executors::Plan> plan;       ///< interpreted plan, or neither: left to the MPI
  std::shared_ptr<const AheadPlan> ahead;            ///< what runs before it, or nothing
  const algorithms::Algorithm* algorithm = nullptr;  ///< of the interpreted plan: the memory that it runs on
  bool small_blocks_first = false;  ///< the plan is only for what compiled/small_blocks.hpp leaves
  bool lends = false;               ///< large messages between two ranks are read where they are
  bool copies_input = false;        ///< in-place calls need a copy of the input
  std::optional<Handed> handed;     ///< to the node's worker, instead of a plan
  ReportRow* row = nullptr;

  bool is_native() const noexcept { return !flat && !plan && !handed; }
};

/// Of in-place calls.
inline bool copies_input(const algorithms::Algorithm& algorithm) {
  return !algorithm.in_place || algorithm.collective == ir::Collective::reduce_scatter;
}

}  // namespace hocket::engine
