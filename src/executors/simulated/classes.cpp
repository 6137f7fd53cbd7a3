#include "executors/simulated/classes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "executors/simulated/repeats.hpp"
#include "executors/simulated/symmetry.hpp"

namespace hocket::executors::simulated {

namespace {

std::string rounded(double count) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), count < 1e6 ? "%.0f" : "%.1e", count);
  return text.data();
}

class Classification {
 public:
  Classification(Rank ranks, const ScheduleOf& schedule_of, std::uint64_t bytes, const Network& network,
                 std::uint64_t most_steps)
      : ranks_(ranks), schedule_of_(schedule_of), bytes_(bytes), network_(network), most_(most_steps) {}

  Classes run() {
    if (estimate() <= static_cast<double>(most_))
      if (auto all = representatives(ranks_, ranks_)) return std::move(*all);
    check_last_groups();
    const Rank unit = symmetric_unit(network_, ranks_);
    if (unit == ranks_ && ranks_ > 1) refuse("its ranks lie where no others lie alike");
    for (const Rank period : {unit, 2 * unit})
      if (ranks_ % period == 0 && period < ranks_)
        if (const Rank different = different_traces(period))
          if (auto classes = representatives(period, different)) return std::move(*classes);
    refuse("its ranks do not fall into few classes that do the same");
  }

 private:
  /// Ops, and regions and groups that they name: what building a rank takes.
  double weight(Rank rank) const {
    const ir::Schedule s = schedule_of_(rank);
    std::uint64_t waits = 0;
    for (const ir::Op& op : s.ops) waits += op.code == ir::OpCode::wait && op.peer == ir::everyone;
    std::size_t members = 0;
    for (const auto& group : s.groups) members += group.size();
    return static_cast<double>(s.ops.size() + s.regions.size() + members) +
           static_cast<double>(waits) * static_cast<double>(ranks_);
  }

  /// Of all ranks, from the middle one of a few: a root may have more to do than all others.
  double estimate() {
    if (estimate_ > 0) return estimate_;
    std::array<double, 5> weights = {weight(0), weight(1 % ranks_), weight(ranks_ / 3), weight(ranks_ / 2),
                                     weight(ranks_ - 1)};
    std::ranges::sort(weights);
    return estimate_ = weights[2] * static_cast<double>(ranks_);
  }

  Trace trace(Rank rank) const { return trace_of(schedule_of_(rank), bytes_); }

  /// Nothing if they have too many steps after all.
  std::optional<Classes> representatives(Rank period, Rank different) const {
    Classes classes{ranks_, period, {}, 0};
    const auto times = static_cast<std::uint64_t>(period / different);
    std::uint64_t once = 0;  // with rounds that repeat cut short
    for (Rank r = 0; r < different; ++r) {
      classes.traces.push_back(trace(r));
      classes.steps += times * steps_of(classes.traces.back(), ranks_);
      once += times * steps_of(shortened(classes.traces.back()), ranks_);
      if ((period == ranks_ ? classes.steps : once) > most_) return std::nullopt;
    }
    return classes;
  }

  /// Ranks may do the same although they lie differently: the smallest number of them that have all traces.
  /// 0 if they do not even repeat with the period.
  Rank different_traces(Rank period) const {
    std::vector<Rank> candidates = {1, 2, period};
    for (const Level& level : network_.levels)
      if (level.ranks > 0) candidates.push_back(level.ranks);
    std::ranges::sort(candidates);
    for (const Rank each : candidates)
      if (period % each == 0 && looks_periodic(each)) return each;
    return 0;
  }

  void check_last_groups() {
    for (const Level& level : network_.levels)
      if (level.group_of.empty() && level.ranks > 0 && level.ranks < ranks_ && ranks_ % level.ranks != 0)
        refuse("its ranks do not fall into classes that do the same: the last group of " +
               std::to_string(level.ranks) + " is not full (" +
               std::to_string(ranks_ / level.ranks * level.ranks) + " ranks fill all)");
  }

  /// A sample of ranks does what its class does; looking at all is what there is no time for. Differences
  /// come with powers of two (trees), at the ends of groups and of all, and at the root. That every message
  /// finds its other half, of the same size, is a further check, in the simulation.
  bool looks_periodic(Rank period) const {
    for (Rank rank = period; rank < 2 * period; ++rank)
      if (!does_as_its_class(rank, period)) return false;
    for (std::int64_t rank = 2 * period; rank < ranks_; rank *= 2)
      if (!does_as_its_class(static_cast<Rank>(rank), period)) return false;
    for (const Level& level : network_.levels)
      if (level.ranks > 0 && level.ranks < ranks_)
        if (!does_as_its_class(level.ranks - 1, period) || !does_as_its_class(level.ranks, period))
          return false;
    return does_as_its_class(ranks_ - 1, period) && does_as_its_class(schedule_of_(0).root, period);
  }

  bool does_as_its_class(Rank rank, Rank period) const { return trace(rank) == trace(rank % period); }

  [[noreturn]] void refuse(const std::string& why) {
    throw Error("about " + rounded(estimate()) + " ops on " + std::to_string(ranks_) +
                " ranks are too many to simulate, and " + why);
  }

  Rank ranks_;
  const ScheduleOf& schedule_of_;
  std::uint64_t bytes_;
  const Network& network_;
  std::uint64_t most_;
  double estimate_ = 0;
};

}  // namespace

Classes classify(Rank ranks, const ScheduleOf& schedule_of, std::uint64_t bytes, const Network& network,
                 std::uint64_t most_steps) {
  return Classification(ranks, schedule_of, bytes, network, most_steps).run();
}

}  // namespace hocket::executors::simulated
