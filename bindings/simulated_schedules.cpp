#include "simulated_schedules.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "passes/hierarchy.hpp"
#include "passes/segment.hpp"

namespace hocket::bindings {

namespace simulated = executors::simulated;

namespace {

/// Whether a row may be segmented does not depend on the number of ranks: a few tell.
bool can_segment(const Named& n) {
  constexpr ir::Rank few = 9;
  ir::Request request = n.request;
  request.ranks = std::min(request.ranks, few);
  request.root = std::min(request.root, request.ranks - 1);
  std::vector<ir::Schedule> all;
  for (ir::Rank rank = 0; rank < request.ranks; ++rank)
    all.push_back(algorithms::build(n.algorithm, request.seen_by(rank)));
  return passes::can_segment(all);
}

const simulated::Level& level_named(const simulated::Network& network, const std::string& name) {
  for (const auto& level : network.levels)
    if (level.name == name && !level.holds_all()) return level;
  throw Error("this machine has no groups by " + name);
}

passes::Groups groups_of(const simulated::Network& network, ir::Rank ranks,
                         const std::vector<std::string>& by) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (const std::string& name : by) {
    const auto& level = level_named(network, name);
    rows.emplace_back();
    for (ir::Rank rank = 0; rank < ranks; ++rank) rows.back().push_back(level.group(rank));
  }
  return passes::Groups(std::move(rows));
}

passes::BuildFlat builds(const Named& n) {
  return [&row = n.algorithm, parameters = n.request.parameters](ir::Request request) {
    request.parameters = parameters;
    if (!algorithms::fits(row, request))
      throw Error(std::string(row.name) + " does not fit " + std::to_string(request.ranks) + " ranks");
    return algorithms::build(row, request);
  };
}

/// The named algorithm inside; it may be another one in each of the collectives that a hierarchy is made of.
passes::BuildFlat builds_inside(const std::string& name) {
  return [name](ir::Request request) {
    const auto* row = algorithms::find(request.collective, name);
    if (!row)
      throw Error("no algorithm for " + std::string(ir::name_of(request.collective)) + " named " + name);
    request.parameters = algorithms::presets(*row);
    return algorithms::build(*row, request);
  };
}

}  // namespace

/// As the engine would run it: cut into segments where the row says so.
simulated::ScheduleOf flat_schedule_of(const Named& n) {
  const int segments = algorithms::parameter(n.algorithm, n.request.parameters, "segments", 1);
  if (segments < 2 || !can_segment(n))
    return [n](ir::Rank rank) { return algorithms::build(n.algorithm, n.request.seen_by(rank)); };
  return [n, segments](ir::Rank rank) {
    return passes::segment(algorithms::build(n.algorithm, n.request.seen_by(rank)),
                           static_cast<std::uint32_t>(segments));
  };
}

simulated::ScheduleOf schedule_of(const Named& n, const Hierarchy& hierarchy,
                                  const simulated::Network& network) {
  if (hierarchy.by.empty()) return flat_schedule_of(n);
  const auto groups = std::make_shared<passes::Groups>(groups_of(network, n.request.ranks, hierarchy.by));
  const passes::Parts parts = {builds_inside(hierarchy.inside), builds(n)};
  return [n, groups, parts](ir::Rank rank) {
    return passes::hierarchy(n.request.seen_by(rank), *groups, parts);
  };
}

}  // namespace hocket::bindings
