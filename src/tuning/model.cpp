#include "tuning/model.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "passes/align.hpp"

namespace hocket::tuning {
namespace {

using ir::OpCode;
using ir::Rank;
using ir::Schedule;

/// More ops than this in all schedules together take longer to look at (0.2 s) than they can save.
constexpr std::size_t most_ops = 2'000'000;

struct Message {
  Rank from, to;
  std::uint32_t chunks;
  std::size_t distance;
};

/// All that happens at one time.
class Step {
 public:
  Step(const passes::Neighbourhood* near, const Costs& costs) : near_(near), costs_(costs) {}

  void add(const Message& message) {
    const LevelCost& level = costs_.at(message.distance);
    startup_us_ = std::max(startup_us_, level.startup_us);
    cpu_us_[message.from] += level.message_us;
    cpu_us_[message.to] += level.message_us;
    if (message.distance == 0) return load({0, group(0, message.from), true}, message.chunks);
    for (std::size_t boundary = 1; boundary <= message.distance; ++boundary) {
      load({boundary, group(boundary - 1, message.from), true}, message.chunks);
      load({boundary, group(boundary - 1, message.to), false}, message.chunks);
    }
  }

  double startup_us() const { return startup_us_ + largest(cpu_us_); }
  double us_per_chunk_byte() const { return largest(loads_); }

 private:
  /// A boundary that is crossed, whose, and whether on the way out.
  using Link = std::tuple<std::size_t, std::uint32_t, bool>;

  std::uint32_t group(std::size_t row, Rank rank) const {
    return near_ ? near_->group(row, rank) : static_cast<std::uint32_t>(rank);
  }
  void load(const Link& link, std::uint32_t chunks) {
    loads_[link] += static_cast<double>(chunks) * costs_.at(std::get<0>(link)).us_per_byte;
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
  std::map<Link, double> loads_;
};

std::uint32_t chunks_in(const Schedule& schedule, const ir::Op& op) {
  std::uint32_t chunks = 0;
  for (const ir::Region& region : schedule.regions_of(op)) chunks += region.count;
  return chunks;
}

}  // namespace

Cost cost_of(std::span<const Schedule> schedules, const passes::Neighbourhood* near, const Costs& costs) {
  const auto times = passes::align(schedules);
  std::map<std::uint32_t, Step> steps;
  for (const Schedule& s : schedules) {
    const auto& own = times[static_cast<std::size_t>(s.rank)];
    std::size_t round = 0;
    for (std::size_t i = 0; i < s.ops.size(); ++i) {
      while (i >= s.rounds[round]) ++round;
      const ir::Op& op = s.ops[i];
      if (op.code != OpCode::send) continue;
      const std::size_t distance = near ? near->distance(s.rank, op.peer) : 1;
      steps.try_emplace(own[round], near, costs)
          .first->second.add({s.rank, op.peer, chunks_in(s, op), distance});
    }
  }
  Cost cost;
  for (const auto& [time, step] : steps) {
    cost.startup_us += step.startup_us();
    cost.us_per_byte += step.us_per_chunk_byte();
  }
  const Schedule& any = schedules.front();
  if (ir::is_vector(any.collective)) cost.us_per_byte /= any.chunks;
  return cost;
}

std::optional<Cost> Model::look(const passes::Recipe& recipe, const ir::Request& request) const {
  std::vector<Schedule> all{passes::build(recipe, request.seen_by(0), near_)};
  if (all.front().ops.size() * static_cast<std::size_t>(request.ranks) > most_ops) return std::nullopt;
  for (Rank rank = 1; rank < request.ranks; ++rank)
    all.push_back(passes::build(recipe, request.seen_by(rank), near_));
  return cost_of(all, near_, costs_);
}

std::optional<Cost> Model::of(const passes::Recipe& recipe, const ir::Request& request) const {
  for (const Known& known : known_)
    if (known.recipe == recipe && known.commutative == request.commutative) return known.cost;
  known_.push_back({recipe, request.commutative, look(recipe, request)});
  return known_.back().cost;
}

}  // namespace hocket::tuning
