#include "executors/simulated/traffic.hpp"

#include <algorithm>
#include <map>

#include "executors/simulated/symmetry.hpp"

namespace hocket::executors::simulated {

namespace {

class Count {
 public:
  Count(const Classes& classes, const Network& network)
      : classes_(classes),
        network_(network),
        group_of_(groups_of_classes(network, classes.ranks, classes.period)),
        alike_(groups_that_lie_alike(network, classes.ranks, classes.period)),
        times_(static_cast<std::uint64_t>(classes.ranks / classes.period)),
        found_(network.levels.size() - 1),
        carried_(network.levels.size() - 1) {}

  std::vector<Traffic> run() {
    for (auto& carried : carried_) carried.resize(static_cast<std::size_t>(classes_.period));
    for (Rank c = 0; c < classes_.period; ++c) add(c);
    add_streams();
    for (std::size_t i = 0; i < found_.size(); ++i) finish(i);
    return std::move(found_);
  }

 private:
  struct Carried {
    std::uint64_t out = 0, in = 0;
    std::uint64_t most() const { return std::max(out, in); }
  };

  void add(Rank c) {
    const Trace& trace = classes_.trace(c);
    std::size_t i = 0;
    for (const Round& round : trace.rounds)
      for (; i < round.end; ++i) add_step(c, trace.steps[i], round.repeats);
  }

  void add_step(Rank c, const Step& step, std::uint64_t repeats) {
    if (step.kind == Step::Kind::send) add(c, step, repeats);
    if (step.kind != Step::Kind::aggregate && step.kind != Step::Kind::settle) return;
    for (std::size_t i = 0; i < found_.size(); ++i)
      aggregated_[{i, step.distance}][group_at(i, c)][c].add(step, repeats);
  }

  /// Up to the first switch each member sends for itself; from there on one stands for all below.
  void add_streams() {
    for (const auto& [where, groups] : aggregated_)
      for (const auto& [group, parts] : groups) {
        const std::size_t level = where.first;
        const std::uint64_t alike = groups_like(level, group);
        if (level < network_.first_switch_level())
          for (const auto& [c, part] : parts) add(level, group, part, times_ / alike);
        else if (groups.size() * alike > 1)
          add(level, group, largest(parts), 1);
      }
  }

  /// What a member moves in all its aggregations.
  struct Part {
    std::uint64_t count = 0, up = 0, down = 0;
    void add(const Step& step, std::uint64_t repeats) {
      if (step.kind == Step::Kind::settle) {
        down += repeats * step.amount;
        return;
      }
      count += repeats;
      up += repeats * step.amount;
    }
  };
  using Parts = std::map<Rank, Part>;  ///< by class

  static Part largest(const Parts& parts) {
    Part all;
    for (const auto& [c, part] : parts)
      all = {std::max(all.count, part.count), std::max(all.up, part.up), std::max(all.down, part.down)};
    return all;
  }

  /// In each of the groups that lie like this one.
  void add(std::size_t level, Rank group, const Part& part, std::uint64_t times) {
    found_[level].messages += groups_like(level, group) * times * part.count;
    found_[level].bytes += groups_like(level, group) * times * part.up;
    Carried& carried = carried_[level][static_cast<std::size_t>(group)];
    carried.out += times * part.up;
    carried.in += times * part.down;
  }

  void add(Rank c, const Step& send, std::uint64_t repeats) {
    const std::int64_t peer = (std::int64_t{c} + send.distance) % classes_.ranks;
    const std::size_t far = network_.distance(c, static_cast<Rank>(peer));
    for (std::size_t i = 0; i < far; ++i) {
      found_[i].messages += times_ * repeats;
      found_[i].bytes += times_ * repeats * send.amount;
      const Rank from = group_at(i, c), to = group_at(i, static_cast<Rank>(peer % classes_.period));
      carried_[i][static_cast<std::size_t>(from)].out +=
          times_ / groups_like(i, from) * repeats * send.amount;
      carried_[i][static_cast<std::size_t>(to)].in += times_ / groups_like(i, to) * repeats * send.amount;
    }
  }

  Rank group_at(std::size_t level, Rank c) const { return group_of_[level][static_cast<std::size_t>(c)]; }
  /// A class stands for all of its ranks, its group for those that lie alike, in each of which are as many.
  std::uint64_t groups_like(std::size_t level, Rank group) const {
    return static_cast<std::uint64_t>(alike_[level][static_cast<std::size_t>(group)]);
  }

  void finish(std::size_t i) {
    found_[i].level = network_.levels[i].name;
    const auto busiest = std::ranges::max_element(carried_[i], {}, &Carried::most);
    found_[i].most = busiest->most();
    found_[i].busiest = static_cast<Rank>(busiest - carried_[i].begin());
  }

  const Classes& classes_;
  const Network& network_;
  const std::vector<std::vector<Rank>> group_of_, alike_;
  const std::uint64_t times_;
  std::vector<Traffic> found_;
  std::vector<std::vector<Carried>> carried_;  ///< by each level's groups
  /// By level and the least rank of those who aggregate; then by the level's groups.
  std::map<std::pair<std::size_t, Rank>, std::map<Rank, Parts>> aggregated_;
};

}  // namespace

std::vector<Traffic> traffic(const Classes& classes, const Network& network) {
  return Count(classes, network).run();
}

}  // namespace hocket::executors::simulated
