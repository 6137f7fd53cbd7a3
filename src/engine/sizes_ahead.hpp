// What goes ahead of an alltoallv that follows a hierarchy: every rank knows the sizes of its own blocks, and
// its leaders have to know them before the blocks come.
#pragma once

#include <cstddef>
#include <vector>

#include "executors/operation.hpp"
#include "executors/plan.hpp"
#include "passes/recipe.hpp"

namespace hocket::engine {

using ir::Rank;

struct AheadPlan {
  executors::Plan plan;     ///< a gather of sizes inside groups
  std::vector<Rank> group;  ///< whose blocks pass through the outermost leader
  explicit AheadPlan(passes::Ahead ahead)
      : plan(std::move(ahead.gather), {}), group(std::move(ahead.group)) {}
};

class SizesAhead {
 public:
  /// The gather of a call's sizes, valid until the next one. Grows the first time; throws std::bad_alloc.
  const executors::Operation& gather(const AheadPlan& plan, const executors::Operation& call);

  /// After it: the call with the sizes of what passes through the scratch of its plan. Throws std::bad_alloc.
  const executors::Operation& data(const AheadPlan& plan, const executors::Operation& call,
                                   std::uint32_t scratch_planes);

 private:
  std::vector<std::size_t> rows_;      ///< of this rank: what it sends to each, what it gets from each
  std::vector<std::size_t> gathered_;  ///< the same of its group; zeros of those whom it does not lead
  std::vector<std::ptrdiff_t> places_;
  std::vector<std::size_t> sizes_;
  std::vector<std::ptrdiff_t> offsets_;
  executors::Operation gather_, data_;
};

}  // namespace hocket::engine
