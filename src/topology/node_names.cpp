#include "topology/node_names.hpp"

#include "base/error.hpp"
#include "topology/shown.hpp"

namespace hocket::topology {
namespace {

/// "n3" of "n3.cluster.org". Of an address, all.
std::string_view without_domain(std::string_view name) {
  const bool is_address = name.find_first_not_of("0123456789.") == name.npos;
  return is_address ? name : name.substr(0, name.find('.'));
}

}  // namespace

NodeNames::NodeNames(const Tree& tree) : tree_(tree) {
  for (const Tree::Id node : tree.all(Kind::node)) {
    const std::string_view name = tree.at(node).name, own = without_domain(name);
    if (own.size() < name.size()) with_domain_[std::string(own)].push_back(node);
  }
}

Tree::Id NodeNames::find(std::string_view name) const {
  if (const Tree::Id exact = tree_.node(name); exact != Tree::none) return exact;
  const std::string_view own = without_domain(name);
  if (own.size() < name.size()) return tree_.node(own);
  const auto found = with_domain_.find(std::string(name));
  if (found == with_domain_.end()) return Tree::none;
  const auto& nodes = found->second;
  if (nodes.size() > 1)
    throw Error(shown(name) + " can be " + shown(tree_.at(nodes[0]).name) + " or " +
                shown(tree_.at(nodes[1]).name));
  return nodes.front();
}

}  // namespace hocket::topology
