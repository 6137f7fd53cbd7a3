// One node has two names: with its domain, and without.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

class NodeNames {
 public:
  /// The tree outlives it.
  explicit NodeNames(const Tree& tree);

  /// The node of this very name; else the one that differs only by having a domain or having none.
  /// `none` where there is no such node. Throws Error where there are several.
  Tree::Id find(std::string_view name) const;

 private:
  const Tree& tree_;
  std::unordered_map<std::string, std::vector<Tree::Id>> with_domain_;  ///< by their names without it
};

}  // namespace hocket::topology
