#include "topology/tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topology/shown.hpp"

namespace hocket::topology {
namespace {

constexpr std::array<std::string_view, 6> kind_names = {"network", "node", "package", "numa", "l3", "core"};

bool may_contain(Kind outer, Kind inner) {
  return outer < inner || (outer == Kind::network && inner == Kind::network);
}

std::string described(Kind kind, std::string_view name) {
  return std::string(name_of(kind)) + " " + shown(name);
}

/// Names end a line of the text form, and are printed.
void check_name(std::string_view name) {
  const bool has_control = std::any_of(name.begin(), name.end(), is_control);
  if (name.empty() || name.size() > Tree::longest_name || has_control || trimmed(name) != name)
    throw Error(shown(name) + " cannot be the name of a part of a machine");
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

Kind kind_named(std::string_view name) {
  const auto* found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end())
    throw Error(shown(name) + " is no part of a machine; there are network, node, package, numa, l3, core");
  return static_cast<Kind>(found - kind_names.begin());
}

Tree::Tree(Kind kind, std::string name) {
  check_name(name);
  if (kind == Kind::node) nodes_.emplace(name, root);
  vertices_.push_back({kind, std::move(name), none, 0, {}});
}

Tree::Id Tree::add(Id parent, Kind kind, std::string name) {
  const auto id = static_cast<Id>(vertices_.size());
  const std::uint32_t depth = at(parent).depth + 1;
  check_name(name);
  if (!may_contain(at(parent).kind, kind))
    throw Error(described(kind, name) + " cannot be inside " + described(at(parent).kind, at(parent).name));
  if (depth > most_depth) throw Error(described(kind, name) + " is inside too many others");
  if (vertices_.size() == most_vertices) throw Error("too large a machine");
  if (kind == Kind::node && !nodes_.emplace(name, id).second)
    throw Error(described(kind, name) + " is in two places");
  vertices_[parent].children.push_back(id);
  vertices_.push_back({kind, std::move(name), parent, depth, {}});
  return id;
}

std::vector<Tree::Id> Tree::all(Kind kind) const {
  std::vector<Id> ids;
  for (Id id = 0; id < vertices_.size(); ++id)
    if (at(id).kind == kind) ids.push_back(id);
  return ids;
}

std::size_t Tree::count(Kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(vertices_.begin(), vertices_.end(), [&](const Vertex& v) { return v.kind == kind; }));
}

Tree::Id Tree::node(std::string_view name) const {
  const auto found = nodes_.find(std::string(name));
  return found == nodes_.end() ? none : found->second;
}

Tree::Id Tree::common(Id a, Id b) const {
  while (a != b) {
    Id& deeper = at(a).depth >= at(b).depth ? a : b;
    deeper = at(deeper).parent;
  }
  return a;
}

}  // namespace hocket::topology
