#include "executors/simulated/traffic.hpp"

#include <algorithm>

#include "executors/simulated/symmetry.hpp"

namespace hocket::executors::simulated {

namespace {

class Count {
 public:
  Count(const Classes& classes, const Network& network)
      : classes_(classes),
        network_(network),
        group_of_(groups_of_classes(network, classes.ranks, classes.period)),
        found_(network.levels.size() - 1),
        carried_(network.levels.size() - 1) {}

  std::vector<Traffic> run() {
    for (auto& carried : carried_) carried.resize(static_cast<std::size_t>(classes_.period));
    for (Rank c = 0; c < classes_.period; ++c) add(c);
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
      for (; i < round.end; ++i)
        if (trace.steps[i].kind == Step::Kind::send) add(c, trace.steps[i], round.repeats);
  }

  void add(Rank c, const Step& send, std::uint64_t repeats) {
    const std::int64_t peer = (std::int64_t{c} + send.distance) % classes_.ranks;
    const std::size_t far = network_.distance(c, static_cast<Rank>(peer));
    for (std::size_t i = 0; i < far; ++i) {
      found_[i].messages += repeats;
      found_[i].bytes += repeats * send.amount;
      carried(i, c).out += repeats * send.amount;
      carried(i, static_cast<Rank>(peer % classes_.period)).in += repeats * send.amount;
    }
  }

  Carried& carried(std::size_t level, Rank c) {
    return carried_[level][static_cast<std::size_t>(group_of_[level][static_cast<std::size_t>(c)])];
  }

  /// A class stands for all of its ranks; its group for one.
  void finish(std::size_t i) {
    const auto times = static_cast<std::uint64_t>(classes_.ranks / classes_.period);
    found_[i].level = network_.levels[i].name;
    found_[i].messages *= times;
    found_[i].bytes *= times;
    const auto busiest = std::ranges::max_element(carried_[i], {}, &Carried::most);
    found_[i].most = busiest->most();
    found_[i].busiest = static_cast<Rank>(busiest - carried_[i].begin());
  }

  const Classes& classes_;
  const Network& network_;
  std::vector<std::vector<Rank>> group_of_;
  std::vector<Traffic> found_;
  std::vector<std::vector<Carried>> carried_;  ///< by each level's groups
};

}  // namespace

std::vector<Traffic> traffic(const Classes& classes, const Network& network) {
  return Count(classes, network).run();
}

}  // namespace hocket::executors::simulated
