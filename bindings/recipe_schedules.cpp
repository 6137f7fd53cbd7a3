// Schedules of recipes.
#include "base/error.hpp"
#include "ir/text.hpp"
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
}

}  // namespace hocket::bindings
