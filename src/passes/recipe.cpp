#include "passes/recipe.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "passes/align.hpp"
#include "passes/hierarchy.hpp"
#include "passes/leaders.hpp"
#include "passes/reorder.hpp"
#include "passes/segment.hpp"

namespace hocket::passes {
namespace {

using algorithms::Algorithm;
using ir::Collective;
using ir::Request;
using ir::Schedule;

/// In ops: a name is less than one.
std::size_t size_of_groups(const Schedule& schedule) {
  constexpr std::size_t names_of_an_op = 8;
  std::size_t names = 0;
  for (const auto& members : schedule.groups) names += members.size();
  return names / names_of_an_op;
}

/// What follows in the order of ranks that a recipe asks for.
const Neighbourhood* seen_in_order(const Recipe& recipe, const Neighbourhood* near) {
  return recipe.reordered && near ? &near->in_order() : near;
}

/// Trees in which nobody forwards others' blocks are the widest ones; those of vectors are narrow, since the
/// leader sends or folds the same amount for each member.
std::int32_t radix_inside(Collective collective, std::int16_t wanted) {
  if (wanted != By::preset) return wanted;
  return ir::is_vector(collective) ? 2 : 0;
}

/// A row with its first parameter.
Schedule build_row(std::string_view name, const Request& request, std::int32_t parameter) {
  const Algorithm* row = algorithms::find(request.collective, name);
  Request own = request;
  own.parameters = algorithms::presets(*row);
  own.parameters[0] = parameter;
  return algorithms::build(*row, own);
}

/// Without what the recipe's parameters mean to its own row.
Schedule build_linear(const Request& request) {
  return algorithms::build(*algorithms::find(request.collective, "linear"), request);
}

/// All groups of a level cut the vector alike, so that leaders agree on its chunks.
Schedule build_inside(const Request& request, const Grouping& grouping, std::size_t level) {
  const std::int16_t wanted = grouping.radix[level];
  if (wanted == By::slices && request.collective == Collective::reduce)
    return build_row("message_reduce_scatter_gather", request, grouping.groups.most_members(level));
  const std::int32_t radix = radix_inside(request.collective, wanted == By::slices ? By::preset : wanted);
  return radix == 0 ? build_linear(request) : build_row("knomial", request, radix);
}

const Grouping& grouping_of(const Recipe& recipe, const Neighbourhood* near) {
  const Grouping* grouping = near ? near->grouped(recipe.by) : nullptr;
  if (!grouping) throw Error("the ranks are not in such groups");
  return *grouping;
}

Parts parts_of(const Recipe& recipe, const Grouping& grouping, bool may_forward) {
  return {[&grouping, may_forward](const Request& part, std::size_t level) {
            return may_forward ? build_inside(part, grouping, level) : build_linear(part);
          },
          [&recipe](const Request& part) { return algorithms::build(*recipe.algorithm, part); }};
}

Schedule build_in_order(const Recipe& recipe, const Request& request, const Neighbourhood* near,
                        std::uint32_t turn) {
  if (recipe.by.empty()) return algorithms::build(*recipe.algorithm, request);
  const Grouping& grouping = grouping_of(recipe, near);
  const bool may_forward = request.collective != Collective::alltoall;
  return hierarchy(request, grouping.groups, parts_of(recipe, grouping, may_forward), turn);
}

Schedule build_whole(const Recipe& recipe, const Request& request, const Neighbourhood* near,
                     std::uint32_t turn = 0) {
  const Neighbourhood* seen = seen_in_order(recipe, near);
  if (!recipe.reordered || !near || near->is_in_order()) return build_in_order(recipe, request, seen, turn);
  return reorder(request, {near->order(), near->places_in_order()},
                 [&](const Request& part) { return build_in_order(recipe, part, seen, turn); });
}

std::vector<Schedule> build_wholes(const Recipe& recipe, const Request& request, const Neighbourhood* near) {
  if (recipe.leaders > 1)
    return with_leaders(request, recipe.leaders, [&](const Request& own, std::uint32_t turn) {
      return build_whole(recipe, own, near, turn);
    });
  std::vector<Schedule> all;
  for (Rank r = 0; r < request.ranks; ++r) all.push_back(build_whole(recipe, request.seen_by(r), near));
  return all;
}

/// Cuts schedules into segments. All ranks' are looked at, so that all ranks decide alike: some requests of a
/// row may be pipelined as trees, others not (a k-nomial reduction whose operation does not commute ends with
/// a message that makes a cycle; aggregations never are trees).
class Pipeline {
 public:
  Pipeline(const Recipe& recipe, std::vector<Schedule> wholes)
      : recipe_(recipe), wholes_(std::move(wholes)), are_trees_(can_segment(wholes_)) {
    if (!are_trees_ && recipe.segments > 1 && can_segment_aligned(wholes_)) times_ = align(wholes_);
  }

  Schedule of(Rank rank) const {
    const auto own = static_cast<std::size_t>(rank);
    const Segmentation cut{segments_of(recipe_), recipe_.apart};
    if (are_trees_) return segment(wholes_[own], cut);
    return times_.empty() ? wholes_[own] : segment_aligned(wholes_[own], times_[own], cut);
  }

 private:
  const Recipe& recipe_;
  std::vector<Schedule> wholes_;
  bool are_trees_;
  std::vector<std::vector<std::uint32_t>> times_;
};

Misfit misfit_of_groups(const Recipe& recipe, const Request& request, const Grouping* grouping) {
  if (!grouping) return Misfit::groups;
  if (!request.commutative && !grouping->groups.are_runs()) return Misfit::order;
  const Groups& groups = grouping->groups;
  if (recipe.algorithm->blocks == algorithms::Blocks::equal && !groups.are_equal()) return Misfit::equal;
  Request on_top = request;
  on_top.parameters = recipe.parameters;
  on_top.root = 0;
  on_top.ranks = static_cast<Rank>(groups.members(groups.levels(), 0, -1).size());
  return algorithms::fits(*recipe.algorithm, on_top) ? Misfit::none : Misfit::ranks;
}

}  // namespace

std::uint32_t segments_of(const Recipe& recipe) {
  if (recipe.segments > 1) return recipe.segments;
  return static_cast<std::uint32_t>(
      algorithms::parameter(*recipe.algorithm, recipe.parameters, "segments", 1));
}

Recipe plain(const Algorithm& algorithm) {
  Recipe recipe;
  recipe.algorithm = &algorithm;
  recipe.parameters = algorithms::presets(algorithm);
  return recipe;
}

Misfit misfit(const Recipe& recipe, const Request& request, const Neighbourhood* near) {
  if (recipe.reordered && !request.commutative && near && !near->is_in_order()) return Misfit::order;
  if (!recipe.by.empty()) {
    const Neighbourhood* seen = seen_in_order(recipe, near);
    return misfit_of_groups(recipe, request, seen ? seen->grouped(recipe.by) : nullptr);
  }
  if (recipe.reordered && !near) return Misfit::groups;
  Request flat = request;
  flat.parameters = recipe.parameters;
  return algorithms::fits(*recipe.algorithm, flat) ? Misfit::none : Misfit::ranks;
}

bool needs_all_ranks(const Recipe& recipe) {
  return segments_of(recipe) > 1 || recipe.leaders > 1;
}

std::size_t size_of_all(const Recipe& recipe, const Request& request, const Neighbourhood* near,
                        std::size_t most) {
  std::size_t size = 0;
  for (Rank rank = 0; rank < request.ranks && size <= most; ++rank) {
    Request own = request.seen_by(rank);
    own.parameters = recipe.parameters;
    const Schedule schedule = build_whole(recipe, own, near);
    size += (schedule.ops.size() + schedule.regions.size() + size_of_groups(schedule)) * recipe.leaders;
  }
  return size;
}

Schedule build(const Recipe& recipe, const Request& request, const Neighbourhood* near) {
  Request own = request;
  own.parameters = recipe.parameters;
  if (!needs_all_ranks(recipe)) return build_whole(recipe, own, near);
  return Pipeline(recipe, build_wholes(recipe, own, near)).of(own.rank);
}

Ahead build_ahead(const Recipe& recipe, const Request& request, const Neighbourhood* near) {
  const Grouping& grouping = grouping_of(recipe, near);
  const Groups& groups = grouping.groups;
  const auto group = groups.all_of(groups.levels() - 1, request.rank);
  Request straight = request;
  straight.parameters = {algorithms::parameter(*recipe.algorithm, recipe.parameters, "window", 0)};
  std::size_t largest = 0;
  for (Rank rank = 0; rank < request.ranks; ++rank)
    largest = std::max(largest, groups.all_of(groups.levels() - 1, rank).size());
  return {gather_in_groups(request, groups, parts_of(recipe, grouping, false)),
          {group.begin(), group.end()},
          build_linear(straight),
          group.front() == request.rank,
          static_cast<Rank>(largest)};
}

std::vector<Schedule> build_all(const Recipe& recipe, const Request& request, const Neighbourhood* near) {
  Request own = request;
  own.parameters = recipe.parameters;
  std::vector<Schedule> all = build_wholes(recipe, own, near);
  if (segments_of(recipe) <= 1) return all;
  const Pipeline pipeline(recipe, std::move(all));
  std::vector<Schedule> cut;
  for (Rank rank = 0; rank < request.ranks; ++rank) cut.push_back(pipeline.of(rank));
  return cut;
}

}  // namespace hocket::passes
