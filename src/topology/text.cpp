// The text form of a tree.
#include <vector>

#include "topology/lines.hpp"
#include "topology/tree.hpp"

namespace hocket::topology {
namespace {

constexpr std::size_t blanks_per_level = 2;

struct Line {
  std::size_t depth;
  Kind kind;
  std::string name;
};

Line parse_line(std::string_view line) {
  const std::size_t blank = line.find_first_not_of(' ');
  if (blank % blanks_per_level != 0) throw Error("a vertex stands two blanks deeper than its parent");
  line.remove_prefix(blank);
  const std::size_t end = line.find(' ');
  const std::string_view name = end == line.npos ? std::string_view() : trimmed(line.substr(end));
  if (name.empty()) throw Error(shown(line) + " is not 'KIND NAME'");
  return {blank / blanks_per_level, kind_named(line.substr(0, end)), std::string(name)};
}

}  // namespace

std::string text_of(const Tree& tree) {
  std::string text;
  std::vector<Tree::Id> stack = {Tree::root};
  while (!stack.empty()) {
    const Tree::Vertex& vertex = tree.at(stack.back());
    stack.pop_back();
    text.append(vertex.depth * blanks_per_level, ' ');
    text.append(name_of(vertex.kind)).append(" ").append(vertex.name).append("\n");
    stack.insert(stack.end(), vertex.children.rbegin(), vertex.children.rend());
  }
  return text;
}

Tree parse_tree(std::string_view text, std::string_view origin) {
  Lines lines(text, origin);
  std::string_view line;
  if (!lines.next(line)) throw Error(std::string(origin) + " is empty");
  const Line first = lines.here([&] { return parse_line(line); });
  if (first.depth != 0) lines.fail("the first vertex contains all others");
  Tree tree(first.kind, first.name);
  std::vector<Tree::Id> path = {Tree::root};  // the last vertex, and those that contain it
  while (lines.next(line)) {
    if (trimmed(line).empty()) continue;
    const Line next = lines.here([&] { return parse_line(line); });
    if (next.depth == 0 || next.depth > path.size())
      lines.fail("a vertex stands two blanks deeper than its parent");
    path.resize(next.depth);
    path.push_back(lines.here([&] { return tree.add(path.back(), next.kind, next.name); }));
  }
  return tree;
}

}  // namespace hocket::topology
