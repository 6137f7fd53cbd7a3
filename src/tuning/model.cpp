#include "tuning/model.hpp"

#include <algorithm>
#include <map>

#include "passes/loads.hpp"
#include "tuning/timeline.hpp"

namespace hocket::tuning {
namespace {

using ir::Rank;
using ir::Schedule;

/// More ops and regions than this in all schedules together take longer to look at (0.1 to 1 s) than they can
/// save. Leaders of an alltoall have few ops, of very many regions.
constexpr std::size_t largest_size = 2'000'000;

/// All that happens at one time.
class Step {
 public:
  Step(const passes::Neighbourhood* near, const Costs& costs) : near_(near), costs_(costs) {}

  void add(const Sent& message) {
    const LevelCost& level = costs_.at(near_ ? near_->distance(message.from, message.to) : 1);
    startup_us_ = std::max(startup_us_, level.startup_us);
    cpu_us_[message.from] += level.message_us;
    cpu_us_[message.to] += level.message_us;
    for (const passes::Link& link : passes::way(near_, message.from, message.to))
      chunks_[link] += message.chunks;
  }

  double startup_us() const { return startup_us_ + largest(cpu_us_); }
  double us_per_chunk_byte() const {
    double most = 0;
    for (const auto& [link, chunks] : chunks_) most = std::max(most, us_per_chunk_byte(link, chunks));
    return most;
  }

 private:
  /// What comes back at the same time delays what goes.
  double us_per_chunk_byte(passes::Link link, double chunks) const {
    const LevelCost& level = costs_.at(link.boundary);
    link.out = !link.out;
    const auto back = chunks_.find(link);
    const double both_ways = back == chunks_.end() ? 0 : std::min(chunks, back->second);
    return chunks * level.us_per_byte +
           both_ways * std::max(0.0, level.us_per_byte_both_ways - level.us_per_byte);
  }

  template <class Map>
  static double largest(const Map& map) {
    double most = 0;
    for (const auto& [key, value] : map) most = std::max(most, value);
    return most;
  }

  const passes::Neighbourhood* near_;
  const Costs& costs_;
  double startup_us_ = 0;
  std::map<Rank, double> cpu_us_;
  std::map<passes::Link, double> chunks_;
};

}  // namespace

Cost cost_of(std::span<const Schedule> schedules, const passes::Neighbourhood* near, const Costs& costs) {
  std::map<std::uint32_t, Step> steps;
  for (const Sent& message : timeline(schedules))
    steps.try_emplace(message.time, near, costs).first->second.add(message);
  Cost cost;
  for (const auto& [time, step] : steps) {
    cost.startup_us += step.startup_us();
    cost.us_per_byte += step.us_per_chunk_byte();
  }
  const Schedule& any = schedules.front();
  if (ir::is_vector(any.collective)) cost.us_per_byte /= any.chunks;
  return cost;
}

bool is_too_large(const passes::Recipe& recipe, const ir::Request& request,
                  const passes::Neighbourhood* near) {
  return passes::needs_all_ranks(recipe) &&
         passes::size_of_all(recipe, request, near, largest_size) > largest_size;
}

std::size_t Model::size_of_all(const passes::Recipe& recipe, const ir::Request& request) const {
  for (const Counted& known : counted_)
    if (known.recipe == recipe && known.commutative == request.commutative) return known.size;
  counted_.push_back(
      {recipe, request.commutative, passes::size_of_all(recipe, request, near_, largest_size)});
  return counted_.back().size;
}

bool Model::is_too_large(const passes::Recipe& recipe, const ir::Request& request) const {
  return passes::needs_all_ranks(recipe) && size_of_all(recipe, request) > largest_size;
}

std::optional<Cost> Model::look(const passes::Recipe& recipe, const ir::Request& request) const {
  if (recipe.algorithm->access == algorithms::Access::in_network) return std::nullopt;
  if (size_of_all(recipe, request) * passes::segments_of(recipe) > largest_size) return std::nullopt;
  return cost_of(passes::build_all(recipe, request, near_), near_, costs_);
}

std::optional<Cost> Model::of(const passes::Recipe& recipe, const ir::Request& request) const {
  for (const Known& known : known_)
    if (known.recipe == recipe && known.commutative == request.commutative) return known.cost;
  known_.push_back({recipe, request.commutative, look(recipe, request)});
  return known_.back().cost;
}

}  // namespace hocket::tuning
