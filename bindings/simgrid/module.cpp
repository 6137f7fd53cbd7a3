// hocket._simgrid: one collective on SimGrid, in a process of its own, because SimGrid's engine is one for
// each process.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "job.hpp"
#include "platform.hpp"
#include "simulated_schedules.hpp"

namespace hocket::bindings {

namespace {

namespace s4u = simgrid::s4u;
namespace simulated = executors::simulated;

constexpr std::uint64_t most_messages = 4'000'000;

/// No protocol of its own: a message has what its links give it.
void configure() {
  for (const char* option : {"contexts/factory:raw", "contexts/stack-size:64", "contexts/guard-size:0",
                             "network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                             "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0"})
    s4u::Engine::set_config(option);
}

Wire wire_from(const nb::handle h) {
  const auto d = nb::cast<nb::dict>(h);
  return {nb::cast<double>(d["bandwidth"]), nb::cast<double>(d["latency"])};
}

Platform platform_from(const nb::dict& d) {
  Platform platform{nb::cast<std::vector<std::vector<std::uint32_t>>>(d["groups"]),
                    wire_from(d["inside"]),
                    wire_from(d["card"]),
                    {}};
  for (const nb::handle each : nb::cast<nb::sequence>(d["uplinks"]))
    platform.uplinks.push_back(wire_from(each));
  return platform;
}

std::uint64_t messages_of(const simulated::Trace& trace) {
  std::uint64_t sum = 0;
  std::uint32_t i = 0;
  for (const auto& round : trace.rounds)
    for (; i < round.end; ++i) sum += trace.steps[i].kind == simulated::Step::Kind::send ? round.repeats : 0;
  return sum;
}

std::vector<simulated::Trace> traces_of(const ir::Request& request, const std::string& recipe,
                                        std::uint64_t bytes, const Places& places) {
  const auto schedule_of = bindings::schedule_of(request, recipe, places);
  std::vector<simulated::Trace> traces;
  std::uint64_t messages = 0;
  for (ir::Rank rank = 0; rank < request.ranks; ++rank) {
    traces.push_back(simulated::trace_of(schedule_of(rank), bytes));
    messages += messages_of(traces.back());
    if (messages > most_messages)
      throw Error("more than " + std::to_string(most_messages) + " messages are too many for SimGrid");
  }
  return traces;
}

std::vector<s4u::Host*> picked(const std::vector<s4u::Host*>& hosts, const std::vector<std::size_t>& nodes) {
  std::vector<s4u::Host*> some;
  for (const std::size_t node : nodes) some.push_back(hosts.at(node));
  return some;
}

std::vector<double> run(const nb::dict& d) {
  const auto network = network_from(nb::cast<nb::dict>(d["network"]));
  const auto nodes = nb::cast<std::vector<std::size_t>>(d["nodes"]);
  const auto request = request_from(nb::cast<std::string>(d["collective"]), static_cast<int>(nodes.size()),
                                    nb::cast<int>(d["root"]), nb::cast<bool>(d["commutative"]));
  network.check(request.ranks);
  auto traces = traces_of(request, nb::cast<std::string>(d["recipe"]), nb::cast<std::uint64_t>(d["bytes"]),
                          nb::cast<Places>(d["places"]));
  int argc = 1;
  std::array<char, 7> name = {"hocket"};
  std::array<char*, 2> argv = {name.data(), nullptr};
  s4u::Engine engine(&argc, argv.data());
  configure();
  const auto hosts =
      build(platform_from(nb::cast<nb::dict>(d["platform"])), nb::cast<std::size_t>(d["hosts"]));
  const Job job{network, std::move(traces), picked(hosts, nodes)};
  Times times;
  start(job, times);
  for (const auto& other : nb::cast<std::vector<std::vector<std::size_t>>>(d["others"]))
    start_other(picked(hosts, other), nb::cast<std::uint64_t>(d["other_bytes"]));
  engine.run();
  return times.finish;
}

}  // namespace

}  // namespace hocket::bindings

NB_MODULE(_simgrid, m) {
  m.def("run", hocket::bindings::run, "ns until each rank ends. Once for each process.");
}
