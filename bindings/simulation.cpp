// Schedules on the clock: what they take on LogGP parameters.
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "executors/simulated/goal.hpp"
#include "executors/simulated/repeats.hpp"
#include "executors/simulated/simulate.hpp"
#include "executors/simulated/traffic.hpp"
#include "simulated_schedules.hpp"
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
  const auto given = [&](const char* name) { return d.contains(name) && !d[name].is_none(); };
  simulated::Level level{.name = nb::cast<std::string>(d["name"]),
                         .ranks = nb::cast<ir::Rank>(d["ranks"]),
                         .shared_memory = nb::cast<bool>(d["shared_memory"]),
                         .protocols = {}};
  for (const nb::handle each : nb::cast<nb::sequence>(d["protocols"]))
    level.protocols.push_back(protocol_from(nb::cast<nb::dict>(each)));
  if (given("link")) {
    const auto link = nb::cast<nb::dict>(d["link"]);
    level.link = {.g = nb::cast<double>(link["g"]), .G = nb::cast<double>(link["G"])};
  }
  if (given("group_of")) level.group_of = nb::cast<std::vector<std::uint32_t>>(d["group_of"]);
  return level;
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
  d["extrapolated"] = prediction.extrapolated;
  return d;
}

nb::list traffic_to_list(const std::vector<simulated::Traffic>& found) {
  nb::list levels;
  for (const auto& each : found) {
    nb::dict d;
    d["level"] = each.level;
    d["messages"] = each.messages;
    d["bytes"] = each.bytes;
    d["most"] = each.most;
    d["busiest"] = each.busiest;
    levels.append(d);
  }
  return levels;
}

/// `explain` asks for all rows, and must not wait for one as long as this.
constexpr std::uint64_t most_steps_at_scale = 8 * simulated::most_steps;

/// Repeats that become even save most of the steps; the others are simulated.
simulated::Prediction predicted(const simulated::Classes& classes, const simulated::Network& network) {
  if (classes.steps <= simulated::most_steps) return simulated::simulate(classes, network);
  try {
    return simulated::extrapolate(classes, network, most_steps_at_scale);
  } catch (const Error&) {
    if (classes.steps > most_steps_at_scale) throw;
    return simulated::simulate(classes, network);
  }
}

nb::dict simulated_at_scale(const ir::Request& request, const std::string& recipe, std::uint64_t bytes,
                            const simulated::Network& network) {
  network.check(request.ranks);
  const auto classes = simulated::classify(request.ranks, schedule_of(request, recipe, network), bytes,
                                           network, most_steps_at_scale);
  auto d = prediction_to_dict(predicted(classes, network));
  d["classes"] = classes.period;
  d["traffic"] = traffic_to_list(simulated::traffic(classes, network));
  return d;
}

}  // namespace

simulated::Network network_from(const nb::dict& d) {
  simulated::Network network;
  for (const nb::handle each : nb::cast<nb::sequence>(d["levels"]))
    network.levels.push_back(level_from(nb::cast<nb::dict>(each)));
  network.copy = nb::cast<double>(d["copy"]);
  network.reduce = nb::cast<double>(d["reduce"]);
  return network;
}

void bind_simulation(nb::module_& m) {
  using Text = const std::string&;
  m.def(
      "simulate",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         std::uint64_t bytes, const nb::dict& network) {
        const auto n = named(collective, algorithm, ranks, root, parameters, commutative);
        return prediction_to_dict(
            simulated::simulate(ranks, flat_schedule_of(n), bytes, network_from(network)));
      },
      "Times in ns on LogGP parameters: `finish` and `busy` of rank r stand at r modulo their length.");
  m.def(
      "simulate_at_scale",
      [](Text collective, Text recipe, int ranks, int root, bool commutative, std::uint64_t bytes,
         const nb::dict& network) {
        return simulated_at_scale(request_from(collective, ranks, root, commutative), recipe, bytes,
                                  network_from(network));
      },
      "As simulate(), of a recipe's text such as `ring by nodes`, and what leaves the groups of each level.");
  m.def(
      "goal",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         std::uint64_t bytes, const nb::dict& network, int rank) {
        if (rank < 0 || rank >= ranks) throw Error("no such rank");
        const auto n = named(collective, algorithm, ranks, root, parameters, commutative);
        const auto trace = simulated::trace_of(flat_schedule_of(n)(rank), bytes);
        return simulated::goal_of(trace, rank, ranks, network_from(network));
      },
      "One rank's schedule in GOAL, for LogGOPSim and ATLAHS.");
}

}  // namespace hocket::bindings
