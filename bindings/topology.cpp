// Trees of machines, read from what sites know of theirs.
#include "topology/tree.hpp"

#include <algorithm>

#include "topology/hops.hpp"
#include "topology/node_names.hpp"
#include "topology/readers.hpp"
#include "topology/source.hpp"
#include "topology_values.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

using Tree = topology::Tree;

nb::list formats() {
  nb::list names;
  for (const std::string_view name : topology::formats()) names.append(name);
  return names;
}

/// Its format, text and origin.
nb::tuple open(const std::string& named, std::string_view format) {
  const topology::Source source = topology::open_source(named, format);
  return nb::make_tuple(source.format, nb::bytes(source.text.data(), source.text.size()), source.origin);
}

nb::list read(std::string_view format, const nb::bytes& text, const std::string& origin) {
  return vertices_of(topology::read({format, {text.c_str(), text.size()}, origin}));
}

Tree tree_from(const nb::list& vertices) {
  const auto kind = [](nb::handle v) { return topology::kind_named(nb::cast<std::string>(v[0])); };
  const auto name = [](nb::handle v) { return nb::cast<std::string>(v[1]); };
  Tree tree(kind(vertices[0]), name(vertices[0]));
  for (std::size_t i = 1; i < vertices.size(); ++i) {
    const auto parent = nb::cast<Tree::Id>(vertices[i][2]);
    if (parent >= tree.size()) throw Error("a vertex stands before the one that contains it");
    tree.add(parent, kind(vertices[i]), name(vertices[i]));
  }
  return tree;
}

/// The node's number among these vertices, of each host; None where there is none.
nb::list find_nodes(const nb::list& vertices, const nb::list& hosts) {
  const Tree tree = tree_from(vertices);
  const topology::NodeNames names(tree);
  nb::list found;
  for (const nb::handle host : hosts) {
    const Tree::Id node = names.find(nb::cast<std::string>(host));
    if (node == Tree::none)
      found.append(nb::none());
    else
      found.append(node);
  }
  return found;
}

topology::Fabric fabric_from(const nb::bytes& text) {
  return topology::parse_ibnetdiscover({text.c_str(), text.size()}, "the fabric");
}

nb::dict dict_of(const topology::HopCounts& pairs) {
  nb::dict counts;
  for (const auto& [switches, count] : pairs) counts[nb::int_(switches)] = count;
  return counts;
}

/// Of two nodes by their numbers in the tree that is made of this fabric.
std::uint32_t hops_in_fabric(const topology::Fabric& fabric, Tree::Id a, Tree::Id b) {
  const Tree tree = topology::tree_of(fabric);
  const auto host = [&](Tree::Id node) {
    const auto found = std::find(fabric.hosts.begin(), fabric.hosts.end(), tree.at(node).name);
    return static_cast<std::uint32_t>(found - fabric.hosts.begin());
  };
  return topology::hops(fabric, host(a), host(b));
}

}  // namespace

void bind_topology(nb::module_& m) {
  m.def("topology_formats", formats, "What a machine's tree is read from.");
  m.def(
      "open_topology",
      [](const std::string& named, std::string_view format) {
        return decoding_errors([&] { return open(named, format); });
      },
      "Format, text and origin of what names a machine's tree; the format by the look of it if there is "
      "none.");
  m.def(
      "read_topology",
      [](std::string_view format, const nb::bytes& text, const std::string& origin) {
        return decoding_errors([&] { return read(format, text, origin); });
      },
      "The vertices of a machine's tree: kind, name and the parent's number.");
  m.def(
      "read_sysfs",
      [](const std::string& folder, const std::string& node) {
        return decoding_errors([&] { return vertices_of(topology::read_sysfs(folder, node)); });
      },
      "The vertices of the inside of a node.");
  m.def(
      "write_topology",
      [](const nb::list& vertices) {
        return decoding_errors([&] { return topology::text_of(tree_from(vertices)); });
      },
      "The text form of these vertices.");
  m.def(
      "find_nodes",
      [](const nb::list& vertices, const nb::list& hosts) {
        return decoding_errors([&] { return find_nodes(vertices, hosts); });
      },
      "The numbers of the vertices that hosts are, by name with or without domain.");
  m.def(
      "count_hops",
      [](const nb::list& vertices) {
        return decoding_errors([&] { return dict_of(topology::count_hops(tree_from(vertices))); });
      },
      "The pairs of nodes by the switches between them.");
  m.def(
      "hops",
      [](const nb::list& vertices, Tree::Id a, Tree::Id b) {
        return decoding_errors([&] { return topology::hops(tree_from(vertices), a, b); });
      },
      "The switches between two nodes, by their numbers.");
  m.def(
      "count_hops_in_fabric",
      [](const nb::bytes& text) {
        return decoding_errors([&] { return dict_of(topology::count_hops(fabric_from(text))); });
      },
      "The same by cables, of what ibnetdiscover printed; 0 for pairs without a way.");
  m.def(
      "hops_in_fabric",
      [](const nb::bytes& text, Tree::Id a, Tree::Id b) {
        return decoding_errors([&] { return hops_in_fabric(fabric_from(text), a, b); });
      },
      "The same of two nodes, by their numbers in the tree.");
}

}  // namespace hocket::bindings
