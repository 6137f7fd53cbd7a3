// Where the parts of a machine are, as a value: switches on top, nodes below them, and inside nodes packages,
// NUMA nodes, shared caches and cores. docs/design/0012-topology.md says where it comes from.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hocket::topology {

/// From the outside to the inside. Only `network` may contain its own kind: switches have levels.
enum class Kind : std::uint8_t {
  network,  ///< a switch, or switches that reach each other without a higher one
  node,
  package,
  numa,
  l3,
  core,
};

std::string_view name_of(Kind kind);
/// Throws Error where there is none of that name.
Kind kind_named(std::string_view name);

class Tree {
 public:
  using Id = std::uint32_t;  ///< of a vertex; parents come before their children
  static constexpr Id root = 0;
  static constexpr Id none = std::numeric_limits<Id>::max();
  /// More than these are taken for a mistake, or for somebody's wish to fill the memory.
  static constexpr std::size_t most_vertices = std::size_t{1} << 22U;
  static constexpr std::uint32_t most_depth = 40;
  static constexpr std::size_t longest_name = 255;

  struct Vertex {
    Kind kind = Kind::network;
    std::string name;
    Id parent = none;
    std::uint32_t depth = 0;
    std::vector<Id> children;
  };

  Tree(Kind kind, std::string name);

  /// Throws Error if a vertex of this kind cannot be inside the parent, if it is a node whose name is taken,
  /// if the name is not one that a line of text can end in, or if the tree has become too large or too deep.
  Id add(Id parent, Kind kind, std::string name);

  const Vertex& at(Id id) const { return vertices_[id]; }
  std::size_t size() const noexcept { return vertices_.size(); }
  /// In the order in which they were added.
  std::vector<Id> all(Kind kind) const;
  std::size_t count(Kind kind) const;
  /// `none` where there is no node of that name.
  Id node(std::string_view name) const;

  /// The innermost vertex that contains both.
  Id common(Id a, Id b) const;

 private:
  std::vector<Vertex> vertices_;
  std::unordered_map<std::string, Id> nodes_;
};

/// A line for each vertex, two blanks deeper than its parent: "network leaf0", "node n3".
std::string text_of(const Tree& tree);
/// What text_of() wrote. `origin` names the text in errors. Throws Error.
Tree parse_tree(std::string_view text, std::string_view origin);

}  // namespace hocket::topology
