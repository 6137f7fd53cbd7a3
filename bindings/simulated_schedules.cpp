#include "simulated_schedules.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "passes/segment.hpp"
#include "tuning/parse_recipe.hpp"

namespace hocket::bindings {

namespace simulated = executors::simulated;

namespace {

using Near = std::shared_ptr<const passes::Neighbourhood>;

/// Two ranks on a node, two nodes under a leaf.
constexpr ir::Rank few = 9;
Near near_of_few() {
  std::vector<passes::GroupNumbers> rows(2);
  for (std::uint32_t rank = 0; rank < few; ++rank) {
    rows[0].push_back(rank / 2);
    rows[1].push_back(rank / 4);
  }
  return std::make_shared<passes::Neighbourhood>(std::move(rows));
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
  return [whole, segments](ir::Rank rank) { return passes::segment(whole(rank), segments); };
}

passes::GroupNumbers numbers_of(const simulated::Level& level, ir::Rank ranks) {
  passes::GroupNumbers numbers;
  for (ir::Rank rank = 0; rank < ranks; ++rank) numbers.push_back(level.group(rank));
  return numbers;
}

/// From the node on outwards, and packages inside; null where nothing is said of nodes.
Near near_of(const simulated::Network& network, ir::Rank ranks) {
  std::vector<passes::GroupNumbers> rows;
  passes::GroupNumbers sockets;
  for (const auto& level : network.levels) {
    if (level.name == "package") sockets = numbers_of(level, ranks);
    if (!level.holds_all() && (level.name == "node" || !rows.empty()))
      rows.push_back(numbers_of(level, ranks));
  }
  if (rows.empty()) return nullptr;
  return std::make_shared<const passes::Neighbourhood>(std::move(rows), std::move(sockets));
}

void check(passes::Misfit misfit) {
  if (misfit == passes::Misfit::ranks) throw Error("it does not fit this number of ranks");
  if (misfit == passes::Misfit::groups) throw Error("the ranks are not in such groups");
  if (misfit == passes::Misfit::order) throw Error("the operation does not commute");
}

}  // namespace

ir::Request request_from(const std::string& collective, int ranks, int root, bool commutative) {
  if (ranks < 1 || root < 0 || root >= ranks) throw Error("no such root among the ranks");
  ir::Request request{.collective = collective_from(collective), .ranks = ranks, .rank = 0, .root = root};
  request.commutative = commutative;
  return request;
}

simulated::ScheduleOf flat_schedule_of(const Named& n) {
  passes::Recipe recipe = passes::plain(n.algorithm);
  recipe.parameters = n.request.parameters;
  return schedule_of(recipe, n.request, nullptr);
}

simulated::ScheduleOf schedule_of(const ir::Request& request, const std::string& text,
                                  const simulated::Network& network) {
  const passes::Recipe recipe = tuning::parse_recipe(request.collective, text);
  if (!recipe.algorithm) throw Error("'" + text + "' is no algorithm");
  const Near near = near_of(network, request.ranks);
  check(passes::misfit(recipe, request, near.get()));
  return schedule_of(recipe, request, near);
}

}  // namespace hocket::bindings
