// Schedules of recipes: as text, and their proof.
#include "base/error.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "recipes.hpp"

namespace hocket::bindings {

namespace {

struct Followed {
  passes::Recipe recipe;
  ir::Request request;
  Near near;
};

/// What is asked about, in the order of the arguments from Python.
Followed followed(const std::string& collective, const std::string& text, int ranks, int root,
                  bool commutative, const Places& places) {
  const ir::Request request = request_from(collective, ranks, root, commutative);
  return {recipe_from(request.collective, text), request, near_of(places)};
}

std::string obstacle_of(const Followed& f) {
  return obstacle(f.recipe, f.request, f.near);
}

void check(const Followed& f) {
  if (const std::string why = obstacle_of(f); !why.empty())
    throw Error("it does not fit these ranks: " + why);
}

std::string text_of(const Followed& f, int rank) {
  if (rank < 0 || rank >= f.request.ranks) throw Error("no such rank");
  check(f);
  return ir::to_text(passes::build(f.recipe, f.request.seen_by(rank), f.near.get()));
}

/// What ranks have to know of sizes, at least. Leaders keep blocks of others; in an alltoallv their sizes
/// come ahead of a schedule that is the one of equal blocks.
ir::Sizes sizes_of(const passes::Recipe& recipe) {
  using algorithms::Blocks;
  const bool is_told = recipe.algorithm->collective == ir::Collective::alltoall && !recipe.by.empty();
  if (is_told || recipe.algorithm->blocks == Blocks::equal) return ir::Sizes::equal;
  const bool is_known = recipe.algorithm->blocks == Blocks::known || !recipe.by.empty();
  return is_known ? ir::Sizes::known : ir::Sizes::own;
}

/// Under the weakest conditions under which it may run. Empty: proved.
std::string verdict(const Followed& f, bool in_place) {
  check(f);
  const ir::Expectation expectation{
      .in_place = in_place, .ranked = !f.request.commutative, .sizes = sizes_of(f.recipe)};
  const auto result = ir::verify(passes::build_all(f.recipe, f.request, f.near.get()), expectation);
  return result.ok ? std::string() : result.what;
}

}  // namespace

void bind_recipes(nb::module_& m) {
  using Text = const std::string&;
  m.def(
      "recipe_text",
      [](Text collective, Text recipe, int ranks, int root, bool commutative, const Places& places,
         int rank) { return text_of(followed(collective, recipe, ranks, root, commutative, places), rank); },
      "One rank's schedule of a recipe's text, on such places, for people.");
  m.def(
      "recipe_obstacle",
      [](Text collective, Text recipe, int ranks, int root, bool commutative, const Places& places) {
        return obstacle_of(followed(collective, recipe, ranks, root, commutative, places));
      },
      "Why these ranks cannot follow a recipe, or an empty text.");
  m.def(
      "verify_recipe",
      [](Text collective, Text recipe, int ranks, int root, bool commutative, const Places& places,
         bool in_place) {
        return verdict(followed(collective, recipe, ranks, root, commutative, places), in_place);
      },
      "Symbolic execution of all ranks: what is wrong, or an empty text.");
}

}  // namespace hocket::bindings
