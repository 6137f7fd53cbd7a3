// Recipes, and the machines that they follow, from what Python says of both.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "passes/recipe.hpp"
#include "values.hpp"

namespace hocket::bindings {

/// Levels of the machine by name, from the inside out: the number of each rank's group. `package` inside and
/// `node` mean something here; what is outside of nodes are switches, whatever they are called.
using Places = std::vector<std::pair<std::string, passes::GroupNumbers>>;
using Near = std::shared_ptr<const passes::Neighbourhood>;

/// Packages are sockets. Null where nothing is said of nodes.
Near near_of(const Places& places);

/// Throws Error for what is no algorithm of Hocket's, too.
passes::Recipe recipe_from(ir::Collective collective, const std::string& text);

/// Why these ranks cannot follow it; empty where they can.
std::string obstacle(const passes::Recipe& recipe, const ir::Request& request, const Near& near);

/// Of any rank among these, with its root.
ir::Request request_from(const std::string& collective, int ranks, int root, bool commutative);

}  // namespace hocket::bindings
