// A file that somebody has written by hand, or a script that knows the machine room.
#include <map>

#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

/// The group that a path names; those on the way are made.
class Groups {
 public:
  explicit Groups(Tree& tree) : tree_(tree) {}

  Tree::Id at(std::string_view path) {
    Tree::Id group = Tree::root;
    for (const std::string_view name : words(path, "/")) group = within(group, name);
    return group;
  }

 private:
  Tree::Id within(Tree::Id parent, std::string_view name) {
    const auto [found, is_new] = known_.try_emplace({parent, std::string(name)}, Tree::none);
    if (is_new) found->second = tree_.add(parent, Kind::network, std::string(name));
    return found->second;
  }

  Tree& tree_;
  std::map<std::pair<Tree::Id, std::string>, Tree::Id> known_;
};

}  // namespace

Tree parse_rack_file(std::string_view text, std::string_view origin) {
  Tree tree(Kind::network, "network");
  Groups groups(tree);
  Lines lines(text, origin);
  for (std::string_view line; lines.next(line);) {
    const auto found = words(line.substr(0, line.find('#')));
    if (found.empty()) continue;
    if (found.size() != 2 || !found[1].starts_with('/')) lines.fail("a line is 'HOST /GROUP/GROUP...'");
    lines.here([&] {
      const Tree::Id group = groups.at(found[1]);
      for (const std::string& host : expand_host_list(found[0])) tree.add(group, Kind::node, host);
    });
  }
  if (tree.count(Kind::node) == 0) throw Error(std::string(origin) + " has no hosts");
  return tree;
}

}  // namespace hocket::topology
