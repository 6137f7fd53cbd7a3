// The simulated machine from a dict of Python.
#include <nanobind/stl/vector.h>

#include "simulated_schedules.hpp"

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

}  // namespace

simulated::Network network_from(const nb::dict& d) {
  simulated::Network network;
  for (const nb::handle each : nb::cast<nb::sequence>(d["levels"]))
    network.levels.push_back(level_from(nb::cast<nb::dict>(each)));
  network.copy = nb::cast<double>(d["copy"]);
  network.reduce = nb::cast<double>(d["reduce"]);
  if (d.contains("switches") && !d["switches"].is_none()) {
    const auto switches = nb::cast<nb::dict>(d["switches"]);
    network.switches = {.latency = nb::cast<double>(switches["latency"]),
                        .G = nb::cast<double>(switches["G"])};
  }
  return network;
}

}  // namespace hocket::bindings
