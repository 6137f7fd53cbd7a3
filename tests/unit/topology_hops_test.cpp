// Switches between hosts, by the tree and by cables.
#include <gtest/gtest.h>

#include <random>

#include "topology/hops.hpp"
#include "topology/readers.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

HopCounts counted_one_by_one(const Tree& tree) {
  HopCounts pairs;
  const auto nodes = tree.all(Kind::node);
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t b = a + 1; b < nodes.size(); ++b) ++pairs[hops(tree, nodes[a], nodes[b])];
  return pairs;
}

TEST(Hops, AreUpToTheVertexThatContainsBothAndDown) {
  const Tree tree = synthetic("row:2 rack:2 node:2 core:2");
  const auto nodes = tree.all(Kind::node);
  EXPECT_EQ(hops(tree, nodes[0], nodes[0]), 0u);
  EXPECT_EQ(hops(tree, nodes[0], nodes[1]), 1u);
  EXPECT_EQ(hops(tree, nodes[0], nodes[2]), 3u);
  EXPECT_EQ(hops(tree, nodes[7], nodes[0]), 5u);
  EXPECT_EQ(count_hops(tree), (HopCounts{{1, 4}, {3, 8}, {5, 16}}));
  EXPECT_EQ(count_hops(synthetic("core:4")), HopCounts{});
}

TEST(Hops, OfAllPairsAreThoseOfEach) {
  std::mt19937 random(11);
  for (int i = 0; i < 100; ++i) {
    Tree tree(Kind::network, "all");
    std::vector<Tree::Id> switches = {Tree::root};
    for (int n = 0; n < 60; ++n) {
      const Tree::Id above = switches[random() % switches.size()];
      const std::string name = std::to_string(n);
      if (random() % 3 == 0 && tree.at(above).depth < 10)
        switches.push_back(tree.add(above, Kind::network, name));
      else
        tree.add(tree.add(above, Kind::node, name), Kind::core, name);
    }
    EXPECT_EQ(count_hops(tree), counted_one_by_one(tree)) << text_of(tree);
  }
}

TEST(Hops, OfManyHostsTakeNoLongerThanTheyAre) {
  const Tree tree = synthetic("pod:64 leaf:32 node:256");
  const HopCounts pairs = count_hops(tree);
  EXPECT_EQ(pairs.at(1), 64ull * 32 * 256 * 255 / 2);
  EXPECT_EQ(pairs.at(3), 64ull * 256 * 256 * 32 * 31 / 2);
  EXPECT_EQ(pairs.at(5), 32ull * 256 * 32 * 256 * 64 * 63 / 2);
}

TEST(Hops, ByCablesAreThoseOfTheTreeInAFatTree) {
  const Fabric fabric = parse_ibnetdiscover(sample("three-levels.txt"), "three");
  EXPECT_EQ(count_hops(fabric), (HopCounts{{1, 8}, {3, 16}, {5, 96}}));
  EXPECT_EQ(count_hops(fabric), count_hops(tree_of(fabric)));
}

TEST(Hops, ByCablesLeaveADirectorWithoutItsSpines) {
  const Fabric fabric = parse_ibnetdiscover(sample("directors.txt"), "directors");
  EXPECT_EQ(count_hops(fabric), (HopCounts{{1, 7 * 6}, {3, 28 * 27 / 2 - 7 * 6}}));
  EXPECT_EQ(count_hops(tree_of(fabric)).count(5), 1u) << "as if chassis were switches";
}

TEST(Hops, AreNoneWhereNoCableLeads) {
  const Fabric fabric{{{"a", {}, {0, 1}}, {"b", {}, {2, 1}}}, {"n0", "n1", "n2"}};
  EXPECT_EQ(hops(fabric, 0, 2), 0u);
  EXPECT_EQ(hops(fabric, 0, 1), 1u);
  EXPECT_EQ(count_hops(fabric), (HopCounts{{0, 2}, {1, 1}}));
}

}  // namespace
}  // namespace hocket::topology
