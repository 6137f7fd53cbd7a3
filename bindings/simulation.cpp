// Schedules on the clock: what they take on LogGP parameters.
#include <algorithm>

#include "base/error.hpp"
#include "executors/simulated/goal.hpp"
#include "executors/simulated/simulate.hpp"
#include "passes/segment.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

namespace simulated = executors::simulated;

simulated::LogGP protocol_from(const nb::dict& d) {
  return {.from = nb::cast<std::uint64_t>(d["from_bytes"]),
          .L = nb::cast<double>(d["L"]),
          .o = nb::cast<double>(d["o"]),
          .g = nb::cast<double>(d["g"]),
          .G = nb::cast<double>(d["G"]),
          .O = nb::cast<double>(d["O"])};
}

simulated::Level level_from(const nb::dict& d) {
  simulated::Level level{.name = nb::cast<std::string>(d["name"]),
                         .ranks = nb::cast<ir::Rank>(d["ranks"]),
                         .shared_memory = nb::cast<bool>(d["shared_memory"]),
                         .protocols = {}};
  for (const nb::handle each : nb::cast<nb::sequence>(d["protocols"]))
    level.protocols.push_back(protocol_from(nb::cast<nb::dict>(each)));
  return level;
}

simulated::Network network_from(const nb::dict& d) {
  simulated::Network network;
  for (const nb::handle each : nb::cast<nb::sequence>(d["levels"]))
    network.levels.push_back(level_from(nb::cast<nb::dict>(each)));
  network.copy = nb::cast<double>(d["copy"]);
  network.reduce = nb::cast<double>(d["reduce"]);
  
  return network;
}

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

/// As the engine would run it: cut into segments where the row says so.
simulated::ScheduleOf schedule_of(const Named& n) {
  const int segments = algorithms::parameter(n.algorithm, n.request.parameters, "segments", 1);
  if (segments < 2 || !can_segment(n))
    return [n](ir::Rank rank) { return algorithms::build(n.algorithm, n.request.seen_by(rank)); };
  return [n, segments](ir::Rank rank) {
    return passes::segment(algorithms::build(n.algorithm, n.request.seen_by(rank)),
                           static_cast<std::uint32_t>(segments));
  };
}

nb::dict prediction_to_dict(const simulated::Prediction& prediction) {
  nb::list finish, busy;
  for (const auto& time : prediction.of_class) {
    finish.append(time.finish);
    busy.append(time.busy);
  }
  nb::dict d;
  d["finish"] = finish;
  d["busy"] = busy;
  d["steps"] = prediction.steps;
  d["slowest"] = prediction.slowest().finish;
  d["slowest_busy"] = prediction.slowest().busy;
  d["mean_busy"] = prediction.mean_busy();
  return d;
}

}  // namespace

void bind_simulation(nb::module_& m) {
  using Text = const std::string&;
  m.def(
      "simulate",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         std::uint64_t bytes, const nb::dict& network) {
        const auto n = named(collective, algorithm, ranks, root, parameters, commutative);
        return prediction_to_dict(simulated::simulate(ranks, schedule_of(n), bytes, network_from(network)));
      },
      "Times in ns on LogGP parameters: `finish` and `busy` of rank r stand at r modulo their length.");
  m.def(
      "goal",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         std::uint64_t bytes, const nb::dict& network, int rank) {
        if (rank < 0 || rank >= ranks) throw Error("no such rank");
        const auto n = named(collective, algorithm, ranks, root, parameters, commutative);
        const auto trace = simulated::trace_of(schedule_of(n)(rank), bytes);
        return simulated::goal_of(trace, rank, ranks, network_from(network));
      },
      "One rank's schedule in GOAL, for LogGOPSim and ATLAHS.");
}

}  // namespace hocket::bindings
