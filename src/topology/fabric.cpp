// From cables to a tree.
#include "topology/fabric.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/error.hpp"

namespace hocket::topology {
namespace {

using Number = std::uint32_t;
constexpr Number unknown = 0;
constexpr Number most_levels = 32;

/// Hosts hang from it, and are not a few that somebody has plugged into a spine.
bool is_leaf(const Fabric::Switch& s) {
  return !s.hosts.empty() && 4 * s.hosts.size() >= s.hosts.size() + s.switches.size();
}

std::vector<Number> leaves_of(const Fabric& fabric) {
  std::vector<Number> leaves;
  for (Number i = 0; i < fabric.switches.size(); ++i)
    if (is_leaf(fabric.switches[i])) leaves.push_back(i);
  if (!leaves.empty()) return leaves;
  for (Number i = 0; i < fabric.switches.size(); ++i)
    if (!fabric.switches[i].hosts.empty()) leaves.push_back(i);
  return leaves;
}

/// Of each switch: 1 for leaves, then by the distance from them; `unknown` where no cable leads.
std::vector<Number> levels_of(const Fabric& fabric) {
  std::vector<Number> levels(fabric.switches.size(), unknown);
  std::vector<Number> reached = leaves_of(fabric);
  for (const Number leaf : reached) levels[leaf] = 1;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const Number next : fabric.switches[reached[i]].switches)
      if (levels[next] == unknown) {
        levels[next] = levels[reached[i]] + 1;
        reached.push_back(next);
      }
  return levels;
}

/// leaf2 before leaf10.
bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    const auto digits = [&](std::string_view text) {
      return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    };
    const std::size_t in_a = digits(a), in_b = digits(b);
    if (in_a != in_b) return in_a != 0 && in_b != 0 ? in_a < in_b : a.front() < b.front();
    const std::size_t length = std::max<std::size_t>(in_a, 1);
    if (const int order = a.substr(0, length).compare(b.substr(0, length)); order != 0) return order < 0;
    a.remove_prefix(length);
    b.remove_prefix(length);
  }
  return a.size() < b.size();
}

/// Sets of switches that grow together.
class Groups {
 public:
  explicit Groups(std::size_t count) : above_(count) { std::iota(above_.begin(), above_.end(), Number{0}); }

  Number of(Number i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  void join(Number a, Number b) { above_[std::max(of(a), of(b))] = std::min(of(a), of(b)); }

 private:
  std::vector<Number> above_;
};

/// What the switches of one group, seen from the next level, are in the tree.
struct Vertex {
  std::vector<Number> switches;  ///< that are not inside of `inner`
  std::vector<std::size_t> inner;
  Number first = 0;  ///< the group's number
  std::string name;
};

class Maker {
 public:
  explicit Maker(const Fabric& fabric)
      : fabric_(fabric), levels_(levels_of(fabric)), groups_(fabric.switches.size()) {}

  Tree make() {
    if (highest() > most_levels)
      throw Error("more than " + std::to_string(most_levels) + " levels of switches");
    for (Number level = 1; level <= highest(); ++level) add_level(level);
    Tree tree(Kind::network, "network");
    placed_.resize(fabric_.hosts.size());
    if (outer_.size() == 1) {
      add_contents(tree, Tree::root, vertices_[outer_.front()]);
    } else {
      for (const std::size_t vertex : outer_) add(tree, Tree::root, vertex);
    }
    return tree;
  }

 private:
  Number highest() const { return *std::max_element(levels_.begin(), levels_.end()); }

  /// Cables between two leaves say nothing about who is near; all others up to this level join.
  void join_up_to(Number level) {
    for (Number i = 0; i < levels_.size(); ++i) {
      if (levels_[i] != level) continue;
      for (const Number next : fabric_.switches[i].switches)
        if (levels_[next] != unknown && levels_[next] <= level && level > 1) groups_.join(i, next);
    }
  }

  void add_level(Number level) {
    join_up_to(level);
    std::vector<Vertex> made;
    std::vector<std::size_t> place(levels_.size(), none);
    const auto vertex_of = [&](Number group) -> Vertex& {
      if (place[group] == none) {
        place[group] = made.size();
        made.push_back({{}, {}, group, {}});
      }
      return made[place[group]];
    };
    for (const std::size_t inner : outer_)
      vertex_of(groups_.of(vertices_[inner].first)).inner.push_back(inner);
    for (Number i = 0; i < levels_.size(); ++i)
      if (levels_[i] == level) vertex_of(groups_.of(i)).switches.push_back(i);
    outer_.clear();
    for (Vertex& vertex : made) keep(std::move(vertex));
    std::sort(outer_.begin(), outer_.end(), [this](std::size_t a, std::size_t b) {
      return comes_before(vertices_[a].name, vertices_[b].name);
    });
  }

  /// A group that has got nothing new in it stays the vertex that it is.
  void keep(Vertex vertex) {
    if (vertex.switches.empty() && vertex.inner.size() == 1) {
      vertices_[vertex.inner.front()].first = vertex.first;
      outer_.push_back(vertex.inner.front());
      return;
    }
    vertex.name = name_of(vertex);
    outer_.push_back(vertices_.size());
    vertices_.push_back(std::move(vertex));
  }

  /// Of one switch its own; of several the first in the alphabet, and how many more there are.
  std::string name_of(const Vertex& vertex) const {
    std::string_view first = fabric_.switches[vertex.switches.front()].name;
    for (const Number i : vertex.switches)
      first = std::min<std::string_view>(first, fabric_.switches[i].name);
    const std::size_t others = vertex.switches.size() - 1;
    return others == 0 ? std::string(first) : std::string(first) + "+" + std::to_string(others);
  }

  void add(Tree& tree, Tree::Id parent, std::size_t vertex) {
    add_contents(tree, tree.add(parent, Kind::network, vertices_[vertex].name), vertices_[vertex]);
  }

  void add_contents(Tree& tree, Tree::Id own, const Vertex& vertex) {
    for (const std::size_t inner : vertex.inner) add(tree, own, inner);
    for (const Number i : vertex.switches)
      for (const Number host : fabric_.switches[i].hosts)
        if (!placed_[host]) {
          placed_[host] = true;
          tree.add(own, Kind::node, fabric_.hosts[host]);
        }
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  const Fabric& fabric_;
  const std::vector<Number> levels_;
  Groups groups_;
  std::vector<Vertex> vertices_;
  std::vector<std::size_t> outer_;  ///< vertices that nothing contains yet
  std::vector<bool> placed_;        ///< of each host
};

}  // namespace

Tree tree_of(const Fabric& fabric) {
  if (fabric.hosts.empty()) throw Error("no host in this network");
  return Maker(fabric).make();
}

}  // namespace hocket::topology
