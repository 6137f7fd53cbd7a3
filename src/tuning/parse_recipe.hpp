// The text of a recipe: `knomial(radix=4) by nodes+leaves reordered in 8 segments`. docs/algorithms.md
// describes it.
#pragma once

#include <string>
#include <string_view>

#include "passes/recipe.hpp"

namespace hocket::tuning {

/// Without an algorithm for "native". Throws Error, also for what no machine lets one follow.
passes::Recipe parse_recipe(ir::Collective collective, std::string_view text);

/// What reports call it: the algorithm without its parameters, and what it follows.
std::string name_of(const passes::Recipe& recipe, std::string_view text);

}  // namespace hocket::tuning
