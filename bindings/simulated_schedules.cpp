#include "simulated_schedules.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "passes/segment.hpp"

namespace hocket::bindings {

namespace simulated = executors::simulated;

namespace {

/// Two ranks on a socket, two sockets on a node, two nodes under a leaf; and one rank that is alone.
constexpr ir::Rank few = 9;
Near near_of_few() {
  const auto in_groups_of = [](std::uint32_t size) {
    passes::GroupNumbers numbers;
    for (std::uint32_t rank = 0; rank < few; ++rank) numbers.push_back(rank / size);
    return numbers;
  };
  return near_of({{"package", in_groups_of(2)}, {"node", in_groups_of(4)}, {"leaf", in_groups_of(8)}});
}

/// Whether schedules may be segmented does not depend on the number of ranks: a few tell.
bool can_segment(const passes::Recipe& recipe, ir::Request request) {
  request.ranks = few;
  request.root = std::min(request.root, request.ranks - 1);
  const Near near = near_of_few();
  std::vector<ir::Schedule> all;
  for (ir::Rank rank = 0; rank < few; ++rank)
    all.push_back(passes::build(recipe, request.seen_by(rank), near.get()));
  return passes::can_segment(all);
}

/// Takes the segments out of the recipe, because build() would look at the schedules of all ranks for each.
std::uint32_t taken_segments(passes::Recipe& recipe) {
  for (std::size_t i = 0; i < recipe.algorithm->parameters.size(); ++i)
    if (recipe.algorithm->parameters[i].name == "segments")
      return static_cast<std::uint32_t>(std::exchange(recipe.parameters[i], 1));
  return 1;
}

/// Of recipes that rewrite all ranks' schedules together.
simulated::ScheduleOf schedule_of_all(const passes::Recipe& recipe, const ir::Request& request,
                                      const Near& near) {
  constexpr ir::Rank most = 8192;  // some GB of schedules
  if (request.ranks > most)
    throw Error("'in segments' and 'with leaders' look at the schedules of all ranks: of " +
                std::to_string(most) + " at most");
  const auto all =
      std::make_shared<const std::vector<ir::Schedule>>(passes::build_all(recipe, request, near.get()));
  return [all](ir::Rank rank) { return (*all)[static_cast<std::size_t>(rank)]; };
}

simulated::ScheduleOf schedule_of(passes::Recipe recipe, const ir::Request& request, const Near& near) {
  if (recipe.segments > 1 || recipe.leaders > 1) return schedule_of_all(recipe, request, near);
  const std::uint32_t segments = taken_segments(recipe);
  const auto whole = [recipe, request, near](ir::Rank rank) {
    return passes::build(recipe, request.seen_by(rank), near.get());
  };
  if (segments < 2 || !can_segment(recipe, request)) return whole;
  const passes::Segmentation cut{segments, recipe.apart};
  return [whole, cut](ir::Rank rank) { return passes::segment(whole(rank), cut); };
}

}  // namespace

simulated::ScheduleOf flat_schedule_of(const Named& n) {
  passes::Recipe recipe = passes::plain(n.algorithm);
  recipe.parameters = n.request.parameters;
  return schedule_of(recipe, n.request, nullptr);
}

simulated::ScheduleOf schedule_of(const ir::Request& request, const std::string& text, const Places& places) {
  const passes::Recipe recipe = recipe_from(request.collective, text);
  const Near near = near_of(places);
  if (const std::string why = obstacle(recipe, request, near); !why.empty()) throw Error(why);
  return schedule_of(recipe, request, near);
}

}  // namespace hocket::bindings
