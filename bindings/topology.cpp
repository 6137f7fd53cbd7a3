// Trees of machines, read from what sites know of theirs.
#include "topology/tree.hpp"

#include "base/error.hpp"
#include "topology/readers.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

topology::Tree read(std::string_view format, std::string_view text, std::string_view origin) {
  if (format == "ibnetdiscover") return topology::tree_of(topology::parse_ibnetdiscover(text, origin));
  if (format == "slurm") return topology::parse_slurm_topology(text, origin);
  if (format == "racks") return topology::parse_rack_file(text, origin);
  if (format == "tree") return topology::parse_tree(text, origin);
  if (format == "synthetic") return topology::synthetic(text);
  throw Error("unknown format '" + std::string(format) +
              "'; there are ibnetdiscover, slurm, racks, tree, synthetic");
}

/// Parents before their children; the first has no parent.
nb::list vertices_of(const topology::Tree& tree) {
  nb::list vertices;
  for (topology::Tree::Id id = 0; id < tree.size(); ++id) {
    const auto& vertex = tree.at(id);
    const long parent = vertex.parent == topology::Tree::none ? -1 : static_cast<long>(vertex.parent);
    vertices.append(nb::make_tuple(topology::name_of(vertex.kind), vertex.name, parent));
  }
  return vertices;
}

}  // namespace

void bind_topology(nb::module_& m) {
  m.def(
      "read_topology",
      [](std::string_view format, std::string_view text, std::string_view origin) {
        return vertices_of(read(format, text, origin));
      },
      "The vertices of a machine's tree: kind, name and the parent's number.");
}

}  // namespace hocket::bindings
