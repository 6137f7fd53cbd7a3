#include "topology/switch_paths.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "topology/node_names.hpp"
#include "topology/shown.hpp"

namespace hocket::topology {
namespace {

SwitchPath path_to(const Tree& tree, Tree::Id node) {
  SwitchPath path;
  if (node == Tree::root) return path;
  for (Tree::Id above = tree.at(node).parent; above != Tree::root; above = tree.at(above).parent)
    path.push_back(tree.at(above).name);
  std::reverse(path.begin(), path.end());
  return path;
}

[[noreturn]] void fail(const std::vector<std::string>& unknown) {
  constexpr std::size_t most_named = 8;
  std::string message;
  for (std::size_t i = 0; i < std::min(unknown.size(), most_named); ++i)
    message += (i == 0 ? "" : ", ") + shown(unknown[i]);
  if (unknown.size() > most_named) message += " and " + std::to_string(unknown.size() - most_named) + " more";
  throw Error(message + (unknown.size() == 1 ? " is" : " are") + " not in this machine");
}

}  // namespace

std::vector<SwitchPath> switch_paths(const Tree& tree, std::span<const std::string> nodes) {
  const NodeNames names(tree);
  std::vector<SwitchPath> paths;
  std::vector<std::string> unknown;
  for (const std::string& name : nodes) {
    const Tree::Id node = names.find(name);
    if (node == Tree::none)
      unknown.push_back(name);
    else
      paths.push_back(path_to(tree, node));
  }
  if (!unknown.empty()) fail(unknown);
  return paths;
}

}  // namespace hocket::topology
