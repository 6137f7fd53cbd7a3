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
      : fabric_(fabric), levels_(levels_of(fabric)), groups_(levels_.size()), is_in_vertex_(levels_.size()) {}

  Tree make() {
    if (highest() > most_levels)
      throw Error("more than " + std::to_string(most_levels) + " levels of switches");
    for (Number level = 1; level <= highest(); ++level) {
      add_level(level);
      if (level == 1) add_chassis();
    }
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
    gather([&](Number i) { return levels_[i] == level; },
           [&](const Vertex& vertex) { return name_of(vertex); });
  }

  /// Its chips may all have cables to the switches that other leaves have: then only their being in it tells
  /// that they are together. With no leaf, or one, it is no more than its cables are.
  void add_chassis() {
    const auto chassis_of = [&](Number i) { return fabric_.switches[i].chassis; };
    const auto is_built_in = [&](Number i) { return chassis_of(i) != Fabric::no_chassis; };
    std::vector<std::vector<Number>> leaves(fabric_.chassis.size());
    for (Number i = 0; i < levels_.size(); ++i)
      if (levels_[i] == 1 && is_built_in(i)) leaves[chassis_of(i)].push_back(i);
    const auto belongs = [&](Number i) {
      return levels_[i] != unknown && is_built_in(i) && leaves[chassis_of(i)].size() > 1;
    };
    for (Number i = 0; i < levels_.size(); ++i)
      if (belongs(i)) groups_.join(i, leaves[chassis_of(i)].front());
    gather(belongs, [&](const Vertex& vertex) { return fabric_.chassis[chassis_of(vertex.first)]; });
  }

  /// Each group is one vertex, of what was there and of these switches.
  template <class Belongs, class Name>
  void gather(Belongs belongs, Name name) {
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
      if (!is_in_vertex_[i] && belongs(i)) {
        is_in_vertex_[i] = true;
        vertex_of(groups_.of(i)).switches.push_back(i);
      }
    outer_.clear();
    for (Vertex& vertex : made) keep(std::move(vertex), name);
    std::sort(outer_.begin(), outer_.end(), [this](std::size_t a, std::size_t b) {
      return comes_before(vertices_[a].name, vertices_[b].name);
    });
  }

  /// A group that has got nothing new in it stays the vertex that it is.
  template <class Name>
  void keep(Vertex vertex, Name name) {
    if (vertex.switches.empty() && vertex.inner.size() == 1) {
      vertices_[vertex.inner.front()].first = vertex.first;
      outer_.push_back(vertex.inner.front());
      return;
    }
    vertex.name = name(vertex);
    outer_.push_back(vertices_.size());
    vertices_.push_back(std::move(vertex));
  }

  /// Of one switch its own; of several the first in the alphabet, and how many more there are. Where a
  /// switch in a chassis leads to others, all there is to name are the parts.
  std::string name_of(const Vertex& vertex) const {
    std::vector<std::string_view> names;
    for (const Number i : vertex.switches) names.emplace_back(fabric_.switches[i].name);
    if (names.empty())
      for (const std::size_t inner : vertex.inner) names.emplace_back(vertices_[inner].name);
    const std::string first(*std::min_element(names.begin(), names.end()));
    return names.size() == 1 ? first : first + "+" + std::to_string(names.size() - 1);
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
  std::vector<bool> is_in_vertex_;  ///< of each switch
  std::vector<bool> placed_;        ///< of each host
};

}  // namespace

Tree tree_of(const Fabric& fabric) {
  if (fabric.hosts.empty()) throw Error("no host in this network");
  return Maker(fabric).make();
}

}  // namespace hocket::topology
