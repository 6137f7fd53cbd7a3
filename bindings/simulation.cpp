// Schedules on the clock: what they take on LogGP parameters.
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
                            const simulated::Network& network, const Places& places) {
  network.check(request.ranks);
  const auto classes = simulated::classify(request.ranks, schedule_of(request, recipe, places), bytes,
                                           network, most_steps_at_scale);
  auto d = prediction_to_dict(predicted(classes, network));
  d["classes"] = classes.period;
  d["traffic"] = traffic_to_list(simulated::traffic(classes, network));
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
        return prediction_to_dict(
            simulated::simulate(ranks, flat_schedule_of(n), bytes, network_from(network)));
      },
      "Times in ns on LogGP parameters: `finish` and `busy` of rank r stand at r modulo their length.");
  m.def(
      "simulate_at_scale",
      [](Text collective, Text recipe, int ranks, int root, bool commutative, std::uint64_t bytes,
         const nb::dict& network, const Places& places) {
        return simulated_at_scale(request_from(collective, ranks, root, commutative), recipe, bytes,
                                  network_from(network), places);
      },
      "As simulate(), of a recipe's text such as `ring by nodes`, on such places, and what leaves the groups "
      "of each level.");
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
