// What goes ahead of an alltoallv that follows a hierarchy: every rank knows the sizes of its own blocks, and
// its leaders have to know them before the blocks come.
//
// Who sends a block, who gets it, and the leaders on its way all know its size, and nobody has to know any
// other to see which way it goes: small ones pass through leaders, large ones go straight to where they
// belong. So a leader needs little memory, however much a call moves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executors/operation.hpp"
#include "executors/plan.hpp"
#include "passes/recipe.hpp"

namespace hocket::engine {

using ir::Rank;

struct AheadPlan {
  executors::Plan plan;     ///< a gather of sizes inside groups
  std::vector<Rank> group;  ///< whose blocks pass through the outermost leader
  executors::Plan direct;   ///< of large blocks
  const bool leads;         ///< the whole group: it has heard of all of it
  /// Bytes of the largest block that passes through leaders: the same on all ranks.
  const std::size_t most_through_leaders;
  explicit AheadPlan(passes::Ahead ahead)
      : plan(std::move(ahead.gather), {}),
        group(std::move(ahead.group)),
        direct(std::move(ahead.direct), {}),
        leads(ahead.leads),
        most_through_leaders(passing_through(ahead.largest_group, plan.schedule.ranks)) {}

 private:
  /// A message between nodes costs more than copying 4 KiB twice; but a leader keeps two blocks of each pair
  /// of its own and another rank.
  static std::size_t passing_through(Rank group, Rank ranks) {
    constexpr std::size_t most_kept = std::size_t{32} << 20, least = 1024, most = 4096;
    return std::clamp(most_kept / (2 * static_cast<std::size_t>(group) * static_cast<std::size_t>(ranks)),
                      least, most);
  }
};

/// Some of a call's blocks, the others being empty. Grows the first time; throws std::bad_alloc.
class SomeBlocks {
 public:
  enum class Which : std::uint8_t { small, large };
  /// Small ones have `most_small` bytes at most.
  executors::Blocks of(const executors::Blocks& all, std::size_t ranks, Which which, std::size_t most_small);

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::ptrdiff_t> offsets_;
};

class SizesAhead {
 public:
  /// The gather of a call's sizes, valid until the next one. Grows the first time; throws std::bad_alloc.
  const executors::Operation& gather(const AheadPlan& plan, const executors::Operation& call);

  struct Disagreement {
    Rank from, to;
    std::size_t sent, expected;
  };
  /// After it: two ranks of a leader's group that do not say the same of the block from one to the other.
  std::optional<Disagreement> disagreement(const AheadPlan& plan) const;

  /// After it: the call's small blocks, with the sizes of what passes through the scratch of its plan. Throws
  /// std::bad_alloc.
  const executors::Operation& small(const AheadPlan& plan, const executors::Operation& call,
                                    std::uint32_t scratch_planes);
  /// And its large ones. Throws std::bad_alloc.
  const executors::Operation& large(const AheadPlan& plan, const executors::Operation& call);

 private:
  const std::size_t* row(const AheadPlan& plan, std::size_t place) const;
  const executors::Operation& some(const AheadPlan& plan, const executors::Operation& call,
                                   SomeBlocks::Which which);

  std::vector<std::size_t> rows_;      ///< of this rank: what it sends to each, what it gets from each
  std::vector<std::size_t> gathered_;  ///< the same of its group; zeros of those whom it does not lead
  std::vector<std::ptrdiff_t> places_;
  std::vector<std::size_t> sizes_;
  std::vector<std::ptrdiff_t> offsets_;
  SomeBlocks sent_, got_;
  executors::Operation gather_, data_;
};

}  // namespace hocket::engine
