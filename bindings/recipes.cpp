#include "recipes.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tuning/model.hpp"
#include "tuning/parse_recipe.hpp"

namespace hocket::bindings {

Near near_of(const Places& places) {
  const auto named = [](std::string_view name) {
    return [name](const Places::value_type& level) { return level.first == name; };
  };
  const auto node = std::ranges::find_if(places, named("node"));
  if (node == places.end()) return nullptr;
  const auto package = std::find_if(places.begin(), node, named("package"));
  std::vector<passes::GroupNumbers> rows;
  for (auto level = node; level != places.end(); ++level) rows.push_back(level->second);
  return std::make_shared<const passes::Neighbourhood>(
      std::move(rows), package == node ? passes::GroupNumbers{} : package->second);
}

passes::Recipe recipe_from(ir::Collective collective, const std::string& text) {
  passes::Recipe recipe = tuning::parse_recipe(collective, text);
  if (recipe.is_native()) throw Error("'" + text + "' is the MPI's own, whose schedules are not known");
  return recipe;
}

std::string obstacle(const passes::Recipe& recipe, const ir::Request& request, const Near& near) {
  if (near && near->ranks() != request.ranks) throw Error("places of another number of ranks");
  static const tuning::Costs costs = tuning::usual_costs();
  const bool folds_in_any_order =
      ir::is_reduction(request.collective) && recipe.algorithm->order == algorithms::Order::any;
  if (folds_in_any_order && !request.commutative) return "the operation does not commute";
  switch (passes::misfit(recipe, request, near.get())) {
    case passes::Misfit::none:
      return tuning::Model(costs, near.get()).is_too_large(recipe, request)
                 ? "these are too many ranks to place the segments of all on one clock"
                 : "";
    case passes::Misfit::ranks:
      return "it does not fit this number of ranks";
    case passes::Misfit::groups:
      return near ? "the ranks are not in such groups" : "it is not known where the ranks are";
    case passes::Misfit::equal:
      return "the groups of ranks are not of one size";
    case passes::Misfit::order:
      return "the operation does not commute, and the ranks of a group are not consecutive";
  }
  return "";
}

ir::Request request_from(const std::string& collective, int ranks, int root, bool commutative) {
  if (ranks < 1 || root < 0 || root >= ranks) throw Error("no such root among the ranks");
  ir::Request request{.collective = collective_from(collective), .ranks = ranks, .rank = 0, .root = root};
  request.commutative = commutative;
  return request;
}

}  // namespace hocket::bindings
