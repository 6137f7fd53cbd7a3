// One rule as a value: which situations it speaks of, and what it says.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tuning/functions.hpp"
#include "tuning/rules.hpp"

namespace hocket::tuning {

/// Inclusive.
struct Interval {
  std::size_t least = 0;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  bool limits() const { return least > 0 || most != std::numeric_limits<std::size_t>::max(); }
  bool holds(std::size_t value) const { return value >= least && value <= most; }
};

struct Conditions {
  ir::Collective collective = ir::Collective::barrier;
  Form form = Form::every;
  Interval bytes, ranks, nodes;
  std::optional<bool> oversubscribed, commutative, predefined, unequal, unknown, single_copy, across_nodes,
      switches, costs, interleaved, blocking, background, worker, mapped, whole_node, in_network, streams;

  bool hold(const Situation& s) const;
};

/// Why a row cannot do a call; the order is that in which it is asked.
enum class Obstacle : std::uint8_t {
  none,
  order,
  sizes,
  equality,
  ranks,
  nodes,
  network,
  single_copy,
  groups,
  unequal_groups,
  runs,
  many,
};
inline constexpr std::size_t obstacle_count = 12;

Obstacle obstacle(const passes::Recipe& recipe, const Situation& s);

struct Rules::Rule {
  Conditions conditions;
  /// What it chooses from, by the model: one, for most rules.
  struct Candidate {
    passes::Recipe recipe;  ///< without an algorithm: native
    std::string name;
    std::string text;
    bool operator==(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  std::string text;
  /// Forced rules only: what to say when the row cannot do a call.
  std::array<std::string, obstacle_count> does_not_fit;
};

}  // namespace hocket::tuning
