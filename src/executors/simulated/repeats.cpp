#include "executors/simulated/repeats.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"

namespace hocket::executors::simulated {

namespace {

constexpr std::uint32_t few = 16;
constexpr double same = 1e-6;  // relative

/// Repeats that are left out of the first, second, ... round that has many.
using Cuts = std::vector<std::uint32_t>;

template <class Round, class F>
void for_each_long(std::vector<Round>& rounds, F&& f) {
  std::size_t i = 0;
  for (auto& round : rounds)
    if (round.repeats > few) f(i++, round);
}

/// What is simulated: so many repeats, and twice so many more.
struct Window {
  std::uint32_t kept, more;
};

/// As many as leave each rank `kept` of them at least; a multiple of what they are counted in.
Cuts cuts_to(const Classes& classes, const Window& window) {
  Cuts least;
  for (Trace trace : classes.traces)
    for_each_long(trace.rounds, [&](std::size_t i, const Round& round) {
      const std::uint32_t cut = round.repeats > window.kept ? round.repeats - window.kept : 0;
      if (i == least.size())
        least.push_back(cut);
      else
        least[i] = std::min(least[i], cut);
    });
  for (std::uint32_t& cut : least) cut -= cut % window.more;
  return least;
}

Classes without(const Classes& classes, const Cuts& cuts) {
  Classes some{classes.ranks, classes.period, classes.traces, 0};
  for (Trace& trace : some.traces) {
    for_each_long(trace.rounds, [&](std::size_t i, Round& round) { round.repeats -= cuts[i]; });
    some.steps += steps_of(trace, classes.ranks);
  }
  some.steps *= static_cast<std::uint64_t>(classes.period) / some.traces.size();
  return some;
}

class Extrapolation {
 public:
  Extrapolation(const Classes& classes, const Network& network, std::uint64_t most)
      : classes_(classes), network_(network), most_(most) {}

  /// Where delays wander from rank to rank, as in a ring, it takes a period of repeats until all have had
  /// the same.
  Prediction run() {
    if (auto found = from({few, few / 2})) return std::move(*found);
    const auto period = std::max(static_cast<std::uint32_t>(classes_.period), few);
    for (std::uint32_t kept = period;; kept *= 2)
      if (auto found = from({kept, period})) return std::move(*found);
  }

 private:
  Prediction simulated(const Cuts& cuts) {
    const Classes some = without(classes_, cuts);
    spent_ += some.steps;
    if (spent_ > most_) refuse();
    return simulate(some, network_);
  }

  std::optional<Prediction> from(const Window& window) {
    const Cuts cuts = cuts_to(classes_, window);
    if (std::ranges::all_of(cuts, [&](std::uint32_t cut) { return cut < 2 * window.more; })) refuse();
    Prediction all = simulated(cuts);
    const Prediction base = all;
    for (std::size_t i = 0; i < cuts.size(); ++i)
      if (cuts[i] > 0 && !add(all, base, cuts, i, window.more)) return std::nullopt;
    all.steps = spent_;
    all.extrapolated = true;
    return all;
  }

  /// What the repeats take that are left out of one round.
  bool add(Prediction& all, const Prediction& base, const Cuts& cuts, std::size_t i, std::uint32_t more) {
    if (cuts[i] < 2 * more) return false;
    Cuts fewer = cuts;
    fewer[i] -= more;
    const Prediction once = simulated(fewer);
    fewer[i] -= more;
    const Prediction twice = simulated(fewer);
    const double usual = once.of_class[0].finish - base.of_class[0].finish;
    for (std::size_t c = 0; c < base.of_class.size(); ++c) {
      const RankTime &zero = base.of_class[c], &one = once.of_class[c], &two = twice.of_class[c];
      for (const double step : {one.finish - zero.finish, two.finish - one.finish})
        if (std::abs(step - usual) > same * std::abs(usual)) return false;
      const double times = static_cast<double>(cuts[i]) / more;
      all.of_class[c].finish += times * usual;
      all.of_class[c].busy += times * (one.busy - zero.busy);
    }
    return true;
  }

  [[noreturn]] void refuse() const {
    throw Error(std::to_string(classes_.steps) + " ops of " + std::to_string(classes_.period) +
                " classes of ranks are too many to simulate, and their rounds do not become even");
  }

  const Classes& classes_;
  const Network& network_;
  std::uint64_t most_;
  std::uint64_t spent_ = 0;
};

}  // namespace

Trace shortened(Trace trace) {
  for (Round& round : trace.rounds) round.repeats = std::min(round.repeats, few);
  return trace;
}

Prediction extrapolate(const Classes& classes, const Network& network, std::uint64_t most) {
  return Extrapolation(classes, network, most).run();
}

}  // namespace hocket::executors::simulated
