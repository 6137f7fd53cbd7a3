// Machines that nobody has, written in a line.
#include <charconv>

#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

struct Level {
  Kind kind;
  std::string label;
  std::uint32_t count;
};

bool is_within_node(std::string_view label) {
  return label == "package" || label == "socket" || label == "numa" || label == "l3" || label == "cache" ||
         label == "core";
}

Kind kind_of(std::string_view label) {
  if (label == "socket") return Kind::package;
  if (label == "cache") return Kind::l3;
  if (label == "node" || is_within_node(label)) return kind_named(label);
  return Kind::network;
}

Level parse_level(std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::string_view label = word.substr(0, colon);
  const std::string_view digits = colon == word.npos ? std::string_view() : word.substr(colon + 1);
  std::uint32_t count = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (label.empty() || problem != std::errc() || end != digits.data() + digits.size() || count == 0)
    throw Error(shown(word) + " is not 'LEVEL:COUNT', such as leaf:4");
  return {kind_of(label), std::string(label), count};
}

std::vector<Level> parse_levels(std::string_view description) {
  std::vector<Level> levels;
  std::size_t width = 1, vertices = 1;
  for (const std::string_view word : words(description)) {
    levels.push_back(parse_level(word));
    width *= levels.back().count;
    vertices += width;
    if (vertices > Tree::most_vertices) throw Error(shown(description) + " is too large a machine");
  }
  if (levels.empty()) throw Error("a machine has one level at least, such as node:4");
  return levels;
}

}  // namespace

Tree synthetic(std::string_view description) {
  const std::vector<Level> levels = parse_levels(description);
  const bool is_one_node = levels.front().kind > Kind::node;
  Tree tree(is_one_node ? Kind::node : Kind::network, is_one_node ? "node0" : "network");
  std::vector<Tree::Id> above = {Tree::root};
  for (const Level& level : levels) {
    std::vector<Tree::Id> made;
    for (const Tree::Id parent : above)
      for (std::uint32_t i = 0; i < level.count; ++i)
        made.push_back(tree.add(parent, level.kind, level.label + std::to_string(made.size())));
    above = std::move(made);
  }
  return tree;
}

}  // namespace hocket::topology
