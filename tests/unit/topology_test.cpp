// Trees of machines, and everything that they are read from.
#include <gtest/gtest.h>

#include <random>

#include "topology/fabric.hpp"
#include "topology/readers.hpp"
#include "topology/tree.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

TEST(Tree, KnowsWhatCanBeInsideWhat) {
  Tree tree(Kind::network, "all");
  const auto leaf = tree.add(Tree::root, Kind::network, "leaf0");
  const auto node = tree.add(leaf, Kind::node, "n0");
  const auto core = tree.add(node, Kind::core, "0");
  EXPECT_EQ(tree.at(core).depth, 3u);
  EXPECT_EQ(tree.node("n0"), node);
  EXPECT_EQ(tree.node("n1"), Tree::none);
  EXPECT_EQ(error_of([&] { tree.add(core, Kind::node, "n1"); }), "node 'n1' cannot be inside core '0'");
  EXPECT_EQ(error_of([&] { tree.add(node, Kind::node, "n1"); }), "node 'n1' cannot be inside node 'n0'");
  EXPECT_EQ(error_of([&] { tree.add(leaf, Kind::node, "n0"); }), "node 'n0' is in two places");
  EXPECT_EQ(tree.size(), 4u) << "what was refused is not there";
}

TEST(Tree, FindsTheInnermostVertexThatContainsBoth) {
  const Tree tree = synthetic("leaf:2 node:2 core:2");
  const auto nodes = tree.all(Kind::node), cores = tree.all(Kind::core);
  EXPECT_EQ(tree.common(nodes[0], nodes[1]), tree.at(nodes[0]).parent);
  EXPECT_EQ(tree.common(nodes[0], nodes[2]), Tree::root);
  EXPECT_EQ(tree.common(cores[0], cores[1]), nodes[0]);
  EXPECT_EQ(tree.common(cores[1], nodes[0]), nodes[0]);
  EXPECT_EQ(tree.common(cores[3], cores[3]), cores[3]);
}

TEST(Tree, HasNamesThatOneLineCanHold) {
  Tree tree(Kind::network, "all");
  EXPECT_EQ(error_of([&] { tree.add(Tree::root, Kind::node, ""); }),
            "'' cannot be the name of a part of a machine");
  for (const char* wrong : {" a", "a ", "a\nb", "a\tb", "\x1b[2J"})
    EXPECT_NE(error_of([&] { tree.add(Tree::root, Kind::node, wrong); }), "") << wrong;
  EXPECT_LT(error_of([&] { tree.add(Tree::root, Kind::node, std::string(100000, 'a')); }).size(), 200u);
  EXPECT_EQ(error_of([&] { tree.add(Tree::root, Kind::node, "MF0;switch:QM8700/U1 S-01"); }), "");
}

TEST(Tree, HasABottom) {
  Tree tree(Kind::network, "0");
  Tree::Id deepest = Tree::root;
  for (std::uint32_t i = 0; i < Tree::most_depth; ++i) deepest = tree.add(deepest, Kind::network, "n");
  EXPECT_EQ(error_of([&] { tree.add(deepest, Kind::network, "n"); }),
            "network 'n' is inside too many others");
}

TEST(Text, IsReadAsItWasWritten) {
  for (const char* description :
       {"node:1", "core:4", "leaf:2 node:3", "row:2 rack:2 node:2 socket:2 numa:2 cache:1 core:2"}) {
    const std::string text = text_of(synthetic(description));
    EXPECT_EQ(text_of(parse_tree(text, "text")), text) << description;
  }
  EXPECT_EQ(text_of(synthetic("leaf:1 node:2")),
            "network network\n  network leaf0\n    node node0\n    node node1\n");
}

TEST(Text, NamesTheLineThatIsWrong) {
  const auto error = [](const char* text) { return error_of([&] { parse_tree(text, "t"); }); };
  EXPECT_EQ(error(""), "t is empty");
  EXPECT_EQ(error("  node a\n"), "t line 1: the first vertex contains all others");
  EXPECT_EQ(error("network a\n   node b\n"), "t line 2: a vertex stands two blanks deeper than its parent");
  EXPECT_EQ(error("network a\n    node b\n"), "t line 2: a vertex stands two blanks deeper than its parent");
  EXPECT_EQ(error("network a\nnetwork b\n"), "t line 2: a vertex stands two blanks deeper than its parent");
  EXPECT_EQ(error("network a\n  nod b\n"),
            "t line 2: 'nod' is no part of a machine; there are network, node, package, numa, l3, core");
  EXPECT_EQ(error("network a\n  node\n"), "t line 2: 'node' is not 'KIND NAME'");
  EXPECT_EQ(error("node a\n  node b\n"), "t line 2: node 'b' cannot be inside node 'a'");
}

TEST(Synthetic, MakesTheMachineThatIsWritten) {
  const Tree tree = synthetic("leaf:4 node:4 socket:2 core:8");
  EXPECT_EQ(tree.count(Kind::network), 5u);
  EXPECT_EQ(tree.count(Kind::node), 16u);
  EXPECT_EQ(tree.count(Kind::package), 32u);
  EXPECT_EQ(tree.count(Kind::core), 256u);
  EXPECT_EQ(tree.at(tree.all(Kind::node)[15]).name, "node15");
  EXPECT_EQ(synthetic("package:2 core:4").at(Tree::root).kind, Kind::node);
}

TEST(Synthetic, RefusesWhatIsNoMachine) {
  const auto error = [](const char* text) { return error_of([&] { synthetic(text); }); };
  for (const char* wrong : {"leaf", "leaf:", ":4", "leaf:0", "leaf:-1", "leaf:4x", "leaf:99999999999"})
    EXPECT_EQ(error(wrong), "'" + std::string(wrong) + "' is not 'LEVEL:COUNT', such as leaf:4");
  EXPECT_EQ(error("  "), "a machine has one level at least, such as node:4");
  EXPECT_EQ(error("core:2 node:2"), "node 'node0' cannot be inside core 'core0'");
  EXPECT_EQ(error("a:65536 b:65536 c:65536 node:65536"),
            "'a:65536 b:65536 c:65536 node:65536' is too large a machine");
}

TEST(HostList, WritesOutTheBrackets) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(expand_host_list("n0"), Names{"n0"});
  EXPECT_EQ(expand_host_list("n[0-2,7],login"), (Names{"n0", "n1", "n2", "n7", "login"}));
  EXPECT_EQ(expand_host_list("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expand_host_list("r[0-1]n[0-1]x"), (Names{"r0n0x", "r0n1x", "r1n0x", "r1n1x"}));
  EXPECT_EQ(expand_host_list("n[18446744073709551614-18446744073709551615]"),
            (Names{"n18446744073709551614", "n18446744073709551615"}));
  for (const char* wrong :
       {"", ",", "n[", "n]", "n[]", "n[[0]]", "n[2-1]", "n[a-b]", "n[0-]", "n[0-99999999]", "a,,b",
        "n[0000000000000000000000000-1]", "n[0-1023]m[0-1023]o[0-1]"})
    EXPECT_NE(error_of([&] { expand_host_list(wrong); }), "") << wrong;
}

TEST(HostList, DoesNotGrowBeyondWhatSitesHave) {
  const std::string long_name(1000000, 'a');
  EXPECT_LT(error_of([&] { expand_host_list(long_name + "[0-1000000]"); }).size(), 200u);
  std::string many = "n[0-1000000";
  for (int i = 0; i < 1000; ++i) many += ",0-1000000";
  EXPECT_EQ(error_of([&] { expand_host_list(many + "]"); }), "'0-1000000' is no range");
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += "SwitchName=s" + std::to_string(i) + " Nodes=n" + std::to_string(i) + "x[0-200000]\n";
  EXPECT_EQ(error_of([&] { parse_slurm_topology(lines, "t"); }), "t line 6: more than 1048576 names");
}

TEST(Slurm, ReadsTopologyConf) {
  const Tree tree = parse_slurm_topology(
      "# leaves\n"
      "SwitchName=leaf0 Nodes=n[0-1] LinkSpeed=100\n"
      "switchname=leaf1 nodes=n2\\\n"
      "   \n"
      "SwitchName=leaf2 Nodes=n3,\\\n"
      "n4\r\n"
      "\n"
      "SwitchName=spine Switches=leaf[0-2] # all\n",
      "topology.conf");
  EXPECT_EQ(text_of(tree),
            "network network\n  network spine\n    network leaf0\n      node n0\n      node n1\n"
            "    network leaf1\n      node n2\n    network leaf2\n      node n3\n      node n4\n");
}

TEST(Slurm, NamesWhatIsWrong) {
  const auto error = [](const char* text) { return error_of([&] { parse_slurm_topology(text, "t"); }); };
  EXPECT_EQ(error(""), "t: no line with SwitchName=");
  EXPECT_EQ(error("SwitchName=a\n"), "t line 1: switch 'a' needs Switches= or Nodes=, one of them");
  EXPECT_EQ(error("Nodes=a\n"), "t line 1: a line needs SwitchName=");
  EXPECT_EQ(error("SwitchName=a Nodes=n\nSwitchName=a Nodes=m\n"),
            "t line 2: switch 'a' for the second time");
  EXPECT_EQ(error("SwitchName=a Switches=b\n"), "t: switch 'a' is above 'b', which has no line");
  EXPECT_EQ(error("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            "t: every switch is below another one");
  EXPECT_EQ(error("SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Nodes=n\n"),
            "t: some switches are below each other in a circle");
  EXPECT_EQ(error("SwitchName=a Nodes=n\nSwitchName=b Nodes=n\n"), "t: node 'n' is in two places");
  EXPECT_EQ(error("SwitchName=a Nodes=n\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n"),
            "t: switch 'a' is below two switches");
  EXPECT_EQ(error("BlockName=a Nodes=n\n"),
            "t line 1: 'BlockName' is not known to topology/tree: SwitchName, Switches, Nodes, LinkSpeed");
  EXPECT_EQ(error("SwitchName=a Nodes=n[\n"), "t line 1: 'n[': brackets do not match");
  EXPECT_EQ(error("SwitchName=a Nodes=n \\"), "t line 1: the last line ends in a backslash");
}

TEST(Slurm, ReadsTheAddressOfATask) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parse_slurm_address("spine.leaf1.n3", "switch.switch.node"), (Names{"spine", "leaf1", "n3"}));
  EXPECT_EQ(parse_slurm_address("n3", "node"), Names{"n3"});
  EXPECT_EQ(parse_slurm_address("..leaf1.n3", "switch.switch.switch.node"), (Names{"leaf1", "n3"}));
  EXPECT_NE(error_of([] { parse_slurm_address("spine.leaf.", "switch.switch.node"); }), "");
  EXPECT_NE(error_of([] { parse_slurm_address("n3", "switch.node"); }), "");
  EXPECT_NE(error_of([] { parse_slurm_address("leaf.n3", "node"); }), "");
  EXPECT_NE(error_of([] { parse_slurm_address("", ""); }), "");
  EXPECT_NE(error_of([] { parse_slurm_address("a.b", "block.node"); }), "");
}

TEST(RackFile, GroupsHostsByTheirPath) {
  const Tree tree =
      parse_rack_file("# room 1\nn0 /row0/rack0\nn[1-2]\t/row0/rack1\nn3 /row1/rack0\n", "racks");
  EXPECT_EQ(
      text_of(tree),
      "network network\n  network row0\n    network rack0\n      node n0\n    network rack1\n      node n1\n"
      "      node n2\n  network row1\n    network rack0\n      node n3\n");
  EXPECT_EQ(error_of([] { parse_rack_file("n0\n", "racks"); }),
            "racks line 1: a line is 'HOST /GROUP/GROUP...'");
  EXPECT_EQ(error_of([] { parse_rack_file("n0 /a\nn0 /b\n", "racks"); }),
            "racks line 2: node 'n0' is in two places");
  EXPECT_EQ(error_of([] { parse_rack_file("#\n", "racks"); }), "racks has no hosts");
}

TEST(Fabric, OfTwoLevelsHasALeafForEachSwitchWithHosts) {
  const Tree tree = tree_of(parse_ibnetdiscover(sample("two-levels.txt"), "two"));
  std::string expected = "network network\n";
  for (int leaf = 0; leaf < 4; ++leaf) {
    expected += "  network leaf" + std::to_string(leaf) + "\n";
    for (int i = 0; i < 4; ++i) expected += "    node n" + std::to_string(4 * leaf + i) + "\n";
  }
  EXPECT_EQ(text_of(tree), expected);
}

TEST(Fabric, OfThreeLevelsHasPods) {
  const Tree tree = tree_of(parse_ibnetdiscover(sample("three-levels.txt"), "three"));
  const Tree& t = tree;
  EXPECT_EQ(t.count(Kind::node), 16u);
  EXPECT_EQ(t.at(Tree::root).children.size(), 4u) << text_of(t);
  for (const auto pod : t.at(Tree::root).children) {
    EXPECT_EQ(t.at(pod).children.size(), 2u);
    for (const auto edge : t.at(pod).children) EXPECT_EQ(t.at(edge).children.size(), 2u);
  }
}

/// A fat tree of k ports a switch as `ibnetdiscover` prints it: k pods of k/2 edge and k/2 upper switches.
std::string fat_tree_text(int k) {
  const int half = k / 2, pods = k;
  const auto edge = [&](int pod, int i) { return pod * half + i; };
  const auto upper = [&](int pod, int i) { return pods * half + pod * half + i; };
  const auto core = [&](int i) { return 2 * pods * half + i; };
  std::string text;
  const auto begin = [&](int id, const std::string& name) {
    text += "\nvendid=0x0\nSwitch\t" + std::to_string(k) + " \"S-" + std::to_string(id) + "\"\t\t# \"" +
            name + "\" base port 0\n";
  };
  const auto cable = [&](const std::string& id, const std::string& name) {
    text += "[1]\t\"" + id + "\"[1]\t\t# \"" + name + "\" lid 1 4xHDR\n";
  };
  const auto to_switch = [&](int id) { cable("S-" + std::to_string(id), "s"); };
  for (int pod = 0; pod < pods; ++pod)
    for (int i = 0; i < half; ++i) {
      begin(edge(pod, i), "edge" + std::to_string(pod) + "_" + std::to_string(i));
      for (int h = 0; h < half; ++h) {
        const std::string host = std::to_string(edge(pod, i) * half + h);
        cable("H-" + host, "n" + host + " mlx5_0");
      }
      for (int u = 0; u < half; ++u) to_switch(upper(pod, u));
      begin(upper(pod, i), "agg" + std::to_string(pod) + "_" + std::to_string(i));
      for (int e = 0; e < half; ++e) to_switch(edge(pod, e));
      for (int c = 0; c < half; ++c) to_switch(core(i * half + c));
    }
  for (int c = 0; c < half * half; ++c) {
    begin(core(c), "core" + std::to_string(c));
    for (int pod = 0; pod < pods; ++pod) to_switch(upper(pod, c / half));
  }
  return text;
}

TEST(Fabric, OfAThousandHostsIsRead) {
  const Tree tree = tree_of(parse_ibnetdiscover(fat_tree_text(16), "fat tree"));
  EXPECT_EQ(tree.count(Kind::node), 1024u);
  EXPECT_EQ(tree.at(Tree::root).children.size(), 16u);
  EXPECT_EQ(tree.count(Kind::network), 1u + 16u + 128u);
  const auto pod = tree.at(Tree::root).children[10];
  EXPECT_EQ(tree.at(pod).name, "agg10_0+7");
  EXPECT_EQ(tree.at(tree.at(pod).children[3]).name, "edge10_3");
  EXPECT_EQ(tree.at(tree.node("n0")).depth, 3u);
}

TEST(Fabric, TakesAFewHostsOnASpineForWhatTheyAre) {
  std::string text = sample("two-levels.txt");
  const std::string spine = "\"spine0\" base port";
  const std::size_t line = text.find('\n', text.find(spine));
  text.insert(line + 1, "[6]\t\"H-99\"[1](99)\t\t# \"storage mlx5_0\" lid 99 4xHDR\n");
  const Tree tree = tree_of(parse_ibnetdiscover(text, "two"));
  EXPECT_EQ(tree.count(Kind::network), 5u) << text_of(tree);
  EXPECT_EQ(tree.at(tree.node("storage")).parent, Tree::root);
  EXPECT_EQ(tree.at(tree.at(tree.node("n7")).parent).name, "leaf1");
}

TEST(Fabric, TellsSwitchesThatNobodyHasNamedApart) {
  const Tree tree =
      tree_of(parse_ibnetdiscover("Switch 4 \"S-1\" # \"SwitchIB Mellanox Technologies\" base port 0\n"
                                  "[1] \"H-1\"[1](1) # \"n0 mlx5_0\"\n[2] \"S-3\"[1] # \"top\"\n"
                                  "Switch 4 \"S-2\" # \"SwitchIB Mellanox Technologies\" base port 0\n"
                                  "[1] \"H-2\"[1](1) # \"n1 mlx5_0\"\n[2] \"S-3\"[2] # \"top\"\n"
                                  "Switch 4 \"S-3\" # \"to\x1bp\" base port 0\n"
                                  "[1] \"S-1\"[2] # \"\"\n[2] \"S-2\"[2] # \"\"\n",
                                  "t"));
  EXPECT_EQ(text_of(tree),
            "network network\n  network SwitchIB Mellanox Technologies S-1\n    node n0\n"
            "  network SwitchIB Mellanox Technologies S-2\n    node n1\n");
}

TEST(Fabric, OfOneSwitchIsOneGroup) {
  Fabric fabric{{{"s", {}, {0, 1}}}, {"a", "b"}};
  EXPECT_EQ(text_of(tree_of(fabric)), "network network\n  node a\n  node b\n");
  fabric.hosts.clear();
  fabric.switches[0].hosts.clear();
  EXPECT_EQ(error_of([&] { tree_of(fabric); }), "no host in this network");
}

TEST(Fabric, SurvivesWhatIsDamaged) {
  const std::string whole = sample("three-levels.txt");
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text = whole.substr(0, random() % whole.size());
    for (int flips = static_cast<int>(random() % 5); flips > 0 && !text.empty(); --flips)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    const std::string said = error_of([&] { (void)text_of(tree_of(parse_ibnetdiscover(text, "t"))); });
    EXPECT_LT(said.size(), 400u);
  }
  EXPECT_EQ(error_of([] { parse_ibnetdiscover("", "t"); }), "no switch in what ibnetdiscover printed");
  EXPECT_EQ(error_of([] { parse_ibnetdiscover("Switch 4 nothing\n", "t"); }),
            "t line 1: a name in quotation marks is missing");
}

}  // namespace
}  // namespace hocket::topology
