#include "topology/hops.hpp"

#include <utility>
#include <vector>

namespace hocket::topology {
namespace {

/// Of nodes below a vertex, how many there are in each depth: as few numbers as a tree has levels.
using Depths = std::map<std::uint32_t, std::uint64_t>;

std::uint32_t by_depths(std::uint32_t a, std::uint32_t b, std::uint32_t common) {
  return a + b - 2 * common - 1;
}

/// Pairs whose innermost common vertex has this depth: one of those that were there, one of those that come.
void count_pairs(const Depths& there, const Depths& coming, std::uint32_t common, HopCounts& pairs) {
  for (const auto& [a, count_a] : there)
    for (const auto& [b, count_b] : coming) pairs[by_depths(a, b, common)] += count_a * count_b;
}

constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

/// Where each host is plugged in; that is the first switch of those that name it.
std::vector<std::uint32_t> switch_of_hosts(const Fabric& fabric) {
  std::vector<std::uint32_t> found(fabric.hosts.size(), none);
  for (std::uint32_t i = 0; i < fabric.switches.size(); ++i)
    for (const std::uint32_t host : fabric.switches[i].hosts)
      if (found[host] == none) found[host] = i;
  return found;
}

/// Of each switch, how many are on the shortest way to it, both ends among them; 0 where there is no way.
std::vector<std::uint32_t> switches_from(const Fabric& fabric, std::uint32_t start) {
  std::vector<std::uint32_t> count(fabric.switches.size(), 0), reached = {start};
  count[start] = 1;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::uint32_t next : fabric.switches[reached[i]].switches)
      if (count[next] == 0) {
        count[next] = count[reached[i]] + 1;
        reached.push_back(next);
      }
  return count;
}

}  // namespace

std::uint32_t hops(const Tree& tree, Tree::Id a, Tree::Id b) {
  return a == b ? 0 : by_depths(tree.at(a).depth, tree.at(b).depth, tree.at(tree.common(a, b)).depth);
}

HopCounts count_hops(const Tree& tree) {
  HopCounts pairs;
  std::vector<Depths> below(tree.size());
  for (std::size_t left = tree.size(); left-- > 1;) {  // parents come before their children
    const Tree::Vertex& vertex = tree.at(static_cast<Tree::Id>(left));
    if (vertex.kind == Kind::node) below[left] = {{vertex.depth, 1}};
    const Depths coming = std::exchange(below[left], {});
    Depths& there = below[vertex.parent];
    count_pairs(there, coming, vertex.depth - 1, pairs);
    for (const auto& [depth, count] : coming) there[depth] += count;
  }
  return pairs;
}

std::uint32_t hops(const Fabric& fabric, std::uint32_t a, std::uint32_t b) {
  const auto at = switch_of_hosts(fabric);
  return a == b ? 0 : switches_from(fabric, at[a])[at[b]];
}

HopCounts count_hops(const Fabric& fabric) {
  std::vector<std::uint64_t> hosts(fabric.switches.size(), 0);
  for (const std::uint32_t at : switch_of_hosts(fabric)) ++hosts[at];
  HopCounts pairs;
  for (std::uint32_t a = 0; a < hosts.size(); ++a) {
    if (hosts[a] == 0) continue;
    if (hosts[a] > 1) pairs[1] += hosts[a] * (hosts[a] - 1) / 2;
    const auto count = switches_from(fabric, a);
    for (std::uint32_t b = a + 1; b < hosts.size(); ++b)
      if (hosts[b] != 0) pairs[count[b]] += hosts[a] * hosts[b];
  }
  return pairs;
}

}  // namespace hocket::topology
