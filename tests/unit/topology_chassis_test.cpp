// Switches that are built into one chassis: a level where cables do not tell it.
#include <gtest/gtest.h>

#include "topology/fabric.hpp"
#include "topology/readers.hpp"
#include "topology/switch_paths.hpp"
#include "topology/tree.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

Tree read(const std::string& text) {
  return tree_of(parse_ibnetdiscover(text, "t"));
}

/// A leaf with one host.
std::string leaf(const std::string& id, const std::string& before = {}, const std::string& description = {}) {
  return "vendid=0x2c9\n" + before + "Switch 4 \"S-" + id + "\" # \"" +
         (description.empty() ? id : description) + "\"\n[1] \"H-" + id + "\"[1](1) # \"n" + id + "\"\n";
}

TEST(Chassis, IsALevelWhereItsChipsHaveCablesToWhatOthersHave) {
  const Tree tree = read(sample("directors-grouped.txt"));
  ASSERT_EQ(tree.at(Tree::root).children.size(), 3u) << text_of(tree);
  const Tree::Vertex& director = tree.at(tree.at(Tree::root).children[0]);
  EXPECT_EQ(director.name, "director0");
  ASSERT_EQ(director.children.size(), 3u) << text_of(tree);
  EXPECT_EQ(tree.at(director.children[2]).name, "MF0;director0:IS5600/L03/U1");
  EXPECT_EQ(tree.at(tree.at(Tree::root).children[2]).name, "leaf");
  EXPECT_EQ(tree.at(tree.node("n0")).depth, 3u);
  EXPECT_EQ(tree.at(tree.node("n24")).depth, 2u);
}

TEST(Chassis, IsOnThePathOfSwitchesThatAJobIsToldOf) {
  const std::vector<std::string> nodes = {"n0", "n27"};
  const auto paths = switch_paths(read(sample("directors.txt")), nodes);
  EXPECT_EQ(paths[0], (SwitchPath{"director0", "MF0;director0:IS5600/L01/U1"}));
  EXPECT_EQ(paths[1], SwitchPath{"leaf"});
}

TEST(Chassis, IsKnownByTheGuidOfItsSystemAsWell) {
  EXPECT_EQ(text_of(read(sample("directors.txt"))), text_of(read(sample("directors-grouped.txt"))));
}

TEST(Chassis, HasTheNumberThatItIsShownWithWhereItsSwitchesTellNoName) {
  EXPECT_EQ(text_of(read("Chassis 1 (guid 0x8f104004050c6)\n\n# Line Nodes\n" + leaf("a") + leaf("b") +
                         "# Chassis CAs\nNon-Chassis Nodes\n" + leaf("c"))),
            "network network\n  network c\n    node nc\n  network chassis 1\n"
            "    network a\n      node na\n    network b\n      node nb\n");
}

TEST(Chassis, OfOneLeafIsNoLevel) {
  const std::string guid = "sysimgguid=0x1\t\t# Chassis 1\n";
  EXPECT_EQ(text_of(read(leaf("a", guid) + leaf("b") + leaf("c", "sysimgguid=0x2\n"))),
            "network network\n  network a\n    node na\n  network b\n    node nb\n"
            "  network c\n    node nc\n");
}

TEST(Chassis, OfAllIsTheRoot) {
  const std::string guid = "sysimgguid=0x1\n";
  EXPECT_EQ(text_of(read(leaf("a", guid) + leaf("b", guid))),
            "network network\n  network a\n    node na\n  network b\n    node nb\n");
}

TEST(Chassis, OfOneNameAreToldApart) {
  const auto chip = [](const std::string& id, const std::string& system) {
    return leaf(id, "sysimgguid=" + system + "\n", "MF0;switch:IS5600/L0" + id + "/U1");
  };
  const Tree tree = read(chip("1", "0x1") + chip("2", "0x1") + chip("3", "0x2") + chip("4", "0x2"));
  ASSERT_EQ(tree.at(Tree::root).children.size(), 2u) << text_of(tree);
  EXPECT_EQ(tree.at(tree.at(Tree::root).children[0]).name, "switch chassis 0x1");
  EXPECT_EQ(tree.at(tree.at(Tree::root).children[1]).name, "switch chassis 0x2");
}

TEST(Chassis, WhoseSpinesLeadToAnotherIsInOneGroupWithIt) {
  Fabric fabric;
  fabric.chassis = {"left", "right"};
  fabric.hosts = {"a", "b", "c", "d", "e"};
  fabric.switches = {{"l1", {2}, {0}, 0}, {"l2", {2}, {1}, 0}, {"ls", {0, 1, 5}, {}, 0},
                     {"r1", {5}, {2}, 1}, {"r2", {5}, {3}, 1}, {"rs", {3, 4, 2}, {}, 1},
                     {"apart", {}, {4}}};
  EXPECT_EQ(text_of(tree_of(fabric)),
            "network network\n"
            "  network apart\n    node e\n"
            "  network left+1\n"
            "    network left\n      network l1\n        node a\n      network l2\n        node b\n"
            "    network right\n      network r1\n        node c\n      network r2\n        node d\n");
}

TEST(Chassis, OfWhichNothingIsSaidIsNone) {
  for (const char* line : {"Chassis \n", "Chassis\n", "sysimgguid=\n", "sysimgguid=\t# Chassis 1\n"})
    EXPECT_EQ(read(line + leaf("a") + leaf("b")).count(Kind::network), 3u) << line;
}

}  // namespace
}  // namespace hocket::topology
