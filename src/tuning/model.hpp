// What a recipe takes on a machine, before it is run: selection between nodes (`cheapest(...)`) asks it.
//
// All ranks' schedules are laid on one clock (timeline.hpp). At each time, the messages take the longest
// startup among them, the CPU of the busiest rank, and the bytes over the busiest link: what all ranks of a
// node send over its card, all nodes under a switch over its uplink. So contention is counted, and not a
// factor. The sum is a startup and a time per byte, as in Hockney 1994, per schedule; the terms by level are
// those of Kandalla et al. 2010 (T_binomial, T_topo), with the exchanges of each level read off the schedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "passes/recipe.hpp"
#include "tuning/costs.hpp"

namespace hocket::tuning {

struct Cost {
  double startup_us = 0;
  double us_per_byte = 0;  ///< of the vector, or of one block
  double at(std::size_t bytes) const { return startup_us + static_cast<double>(bytes) * us_per_byte; }
};

/// Of schedules of all ranks, in order, that send and receive. `near`: null where nothing is known of nodes.
Cost cost_of(std::span<const ir::Schedule> schedules, const passes::Neighbourhood* near, const Costs& costs);

/// Of a recipe that fits but for this: all ranks would have to place more schedules on one clock than they
/// can.
bool is_too_large(const passes::Recipe& recipe, const ir::Request& request,
                  const passes::Neighbourhood* near);

/// Of the recipes of one communicator: each is looked at once.
class Model {
 public:
  Model(const Costs& costs, const passes::Neighbourhood* near) : costs_(costs), near_(near) {}
  Model(Costs&& gone, const passes::Neighbourhood* near) = delete;  // both must outlive it

  /// Of a recipe that fits. Nothing for aggregations, or if there are too many ranks to look at all
  /// schedules: the same on all ranks.
  std::optional<Cost> of(const passes::Recipe& recipe, const ir::Request& request) const;
  /// As above.
  bool is_too_large(const passes::Recipe& recipe, const ir::Request& request) const;

 private:
  struct Known {
    passes::Recipe recipe;
    bool commutative;
    std::optional<Cost> cost;
  };
  struct Counted {
    passes::Recipe recipe;
    bool commutative;
    std::size_t size;
  };
  std::size_t size_of_all(const passes::Recipe& recipe, const ir::Request& request) const;
  std::optional<Cost> look(const passes::Recipe& recipe, const ir::Request& request) const;

  const Costs& costs_;
  const passes::Neighbourhood* near_;
  mutable std::vector<Known> known_;
  mutable std::vector<Counted> counted_;
};

}  // namespace hocket::tuning
