// hocket._hwloc: the inside of a node as hwloc sees it. For the tools: what is preloaded reads /sys by
// itself.
#include <hwloc.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <type_traits>

#include "topology/cpus.hpp"
#include "topology_values.hpp"

namespace hocket::bindings {

namespace {

using topology::Cpu;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

Topology prepared() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw Error("hwloc does not start");
  Topology topology(made);
  // the machine, not the part of it that this process may use
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return topology;
}

void load(const Topology& topology, const std::string& origin) {
  if (hwloc_topology_load(topology.get()) != 0) throw Error("hwloc cannot read " + origin);
}

/// Of the CPUs that it has.
std::int64_t lowest(hwloc_obj_t part) {
  return part ? hwloc_bitmap_first(part->cpuset) : Cpu::unknown;
}

std::int64_t number_of(hwloc_obj_t part) {
  return part && part->os_index != HWLOC_UNKNOWN_INDEX ? static_cast<std::int64_t>(part->os_index)
                                                       : Cpu::unknown;
}

Cpu cpu_of(hwloc_topology_t topology, hwloc_obj_t pu) {
  const auto above = [&](hwloc_obj_type_t type) {
    return hwloc_get_ancestor_obj_by_type(topology, type, pu);
  };
  Cpu cpu;
  cpu.number = static_cast<std::int64_t>(pu->os_index);
  cpu.package = number_of(above(HWLOC_OBJ_PACKAGE));
  cpu.numa = hwloc_bitmap_first(pu->nodeset);  // -1 where there is none
  cpu.l3 = lowest(above(HWLOC_OBJ_L3CACHE));
  cpu.core = lowest(above(HWLOC_OBJ_CORE));
  return cpu;
}

topology::Tree tree_of(const Topology& loaded, const std::string& node) {
  hwloc_topology_t topology = loaded.get();
  std::vector<Cpu> cpus;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr;)
    cpus.push_back(cpu_of(topology, pu));
  if (cpus.empty()) throw Error("hwloc knows of no CPU");
  return topology::tree_of(node, std::move(cpus));
}

nb::list read_machine(const std::string& node) {
  const Topology topology = prepared();
  load(topology, "this machine");
  return vertices_of(tree_of(topology, node));
}

/// The node has the name of the host that the file comes from.
nb::list read_xml(const nb::bytes& text, const std::string& origin) {
  const Topology topology = prepared();
  const std::string with_end(text.c_str(), text.size());
  if (hwloc_topology_set_xmlbuffer(topology.get(), with_end.c_str(), static_cast<int>(with_end.size() + 1)) !=
      0)
    throw Error(origin + " is no XML of hwloc");
  load(topology, origin);
  const char* host = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology.get()), "HostName");
  return vertices_of(tree_of(topology, host ? host : "node0"));
}

}  // namespace

}  // namespace hocket::bindings

NB_MODULE(_hwloc, m) {
  using namespace hocket::bindings;
  m.def(
      "read_machine",
      [](const std::string& node) { return decoding_errors([&] { return read_machine(node); }); },
      "The vertices of this machine.");
  m.def(
      "read_xml",
      [](const nb::bytes& text, const std::string& origin) {
        return decoding_errors([&] { return read_xml(text, origin); });
      },
      "The vertices of the machine that lstopo has written to a file.");
}
