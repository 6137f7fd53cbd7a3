// Where a tree comes from, what the nodes of a job are under, and what a node learns of itself.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "topology/discover.hpp"
#include "topology/node_names.hpp"
#include "topology/readers.hpp"
#include "topology/source.hpp"
#include "topology/switch_paths.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

using Names = std::vector<std::string>;

TEST(Source, IsTakenForWhatItLooksLike) {
  const std::map<std::string, std::string> looks = {
      {"SwitchName=leaf0 Nodes=n[0-1]\n", "slurm"},
      {"# remark\n  switchname = a nodes=b\n", "slurm"},
      {"n0 /rack0\n", "racks"},
      {"n0 /rack0\nn1 /0\n", "racks"},
      {"", "racks"},
      {"network a\n  node b\n", "tree"},
      {"node a\n  core b\n", "tree"},
      {"#\nSwitch\t16 \"S-0001\"\t# \"leaf\"\n", "ibnetdiscover"},
      {"us n0 n1\nn0 0 1\nn1 1 0\n", "matrix"},
      {"# us\n\nn0,n1\nn0,-,1.5\nn1,1.5e0,-\n", "matrix"},
      {"<?xml version=\"1.0\"?>\n<topology>\n", "hwloc"},
  };
  for (const auto& [text, format] : looks) EXPECT_EQ(format_of(text), format) << text;
  EXPECT_EQ(format_of(sample("two-levels.txt")), "ibnetdiscover");
}

TEST(Source, IsAFileAFolderATextOrWords) {
  const Folder folder(
      {{"racks", "n0 /a\n"}, {"sys/cpu/online", "0\n"}, {"xml", "<?xml version=\"1.0\"?>\n"}});
  EXPECT_EQ(text_of(read(open_source(folder.path() + "/racks"))),
            "network network\n  network a\n    node n0\n");
  EXPECT_EQ(text_of(read(open_source(folder.path() + "/sys"))), "node node0\n  core 0\n");
  EXPECT_EQ(text_of(read(open_source("n1 /b\n"))), "network network\n  network b\n    node n1\n");
  EXPECT_EQ(text_of(read(open_source("node:1"))), "network network\n  node node0\n");
  const auto error = [](const std::string& named, std::string_view format = {}) {
    return error_of([&] { read(open_source(named, format)); });
  };
  EXPECT_EQ(error("nowhere"), "'nowhere' is no file, and no machine such as 'leaf:4 node:4'");
  EXPECT_EQ(error("nowhere", "slurm"), "'nowhere' cannot be read: No such file or directory");
  EXPECT_EQ(
      error("node:1", "xml"),
      "unknown format 'xml'; there are ibnetdiscover, slurm, racks, matrix, tree, synthetic, sys, hwloc");
  EXPECT_EQ(error(folder.path() + "/racks", "slurm"),
            folder.path() + "/racks line 1: 'n0' is not 'KEY=VALUE'");
  EXPECT_NE(error(folder.path() + "/xml").find("hwloc"), std::string::npos);
  EXPECT_EQ(error(folder.path(), "slurm"), "'" + folder.path() + "' cannot be read: Is a directory");
}

TEST(Source, MayBeAPipe) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::thread writer([&] {
    for (const char* line : {"n0 /a\n", "n1 /b\n"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      EXPECT_EQ(write(ends[1], line, 6), 6);
    }
    close(ends[1]);
  });
  EXPECT_EQ(read(open_source("/dev/fd/" + std::to_string(ends[0]))).count(Kind::node), 2u);
  writer.join();
  close(ends[0]);
}

TEST(Source, OfANamedPipeThatNobodyWritesIsEmpty) {
  const Folder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read(open_source(pipe)); }), pipe + " has no hosts");
}

TEST(NodeNames, MatchWithAndWithoutDomain) {
  Tree tree(Kind::network, "all");
  for (const char* name : {"n1", "n2.cluster.org", "n3.a", "n3.b", "n4", "n4.a", "10.0.0.1"})
    tree.add(Tree::root, Kind::node, name);
  const NodeNames names(tree);
  const auto found = [&](const char* name) {
    const Tree::Id node = names.find(name);
    return node == Tree::none ? "" : tree.at(node).name;
  };
  EXPECT_EQ(found("n1"), "n1");
  EXPECT_EQ(found("n1.cluster.org"), "n1");
  EXPECT_EQ(found("n2"), "n2.cluster.org");
  EXPECT_EQ(found("n2.elsewhere.org"), "");
  EXPECT_EQ(found("n3.b"), "n3.b");
  EXPECT_EQ(error_of([&] { names.find("n3"); }), "'n3' can be 'n3.a' or 'n3.b'");
  EXPECT_EQ(found("n4"), "n4");
  EXPECT_EQ(found("n4.a"), "n4.a");
  EXPECT_EQ(found("n4.b"), "n4");
  EXPECT_EQ(found("n"), "");
  EXPECT_EQ(found("10"), "");
  EXPECT_EQ(found("10.0.0.2"), "");
}

TEST(SwitchPaths, GoFromTheOutsideIn) {
  const Tree tree = parse_rack_file("n0 /row0/rack0\nn1 /row0/rack1\nn2.x /row1/rack0\nn3 /\n", "t");
  EXPECT_EQ(switch_paths(tree, Names{"n2", "n0.y", "n0", "n3"}),
            (std::vector<SwitchPath>{{"row1", "rack0"}, {"row0", "rack0"}, {"row0", "rack0"}, {}}));
  EXPECT_EQ(switch_paths(synthetic("core:4"), Names{"node0"}), std::vector<SwitchPath>{{}});
  EXPECT_TRUE(switch_paths(tree, {}).empty());
}

TEST(SwitchPaths, NameTheNodesThatAreNotThere) {
  const Tree tree = synthetic("leaf:2 node:2");
  EXPECT_EQ(error_of([&] { switch_paths(tree, Names{"node0", "n1"}); }), "'n1' is not in this machine");
  EXPECT_EQ(error_of([&] { switch_paths(tree, Names{"n1", "node0", "n2"}); }),
            "'n1', 'n2' are not in this machine");
  Names many;
  for (int i = 0; i < 20; ++i) many.push_back("n" + std::to_string(i));
  EXPECT_EQ(error_of([&] { switch_paths(tree, many); }),
            "'n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7' and 12 more are not in this machine");
}

TEST(Discover, AsksTheSourceThenSlurm) {
  EXPECT_EQ(discover({}), std::nullopt);
  EXPECT_EQ(discover({"", "spine.leaf1.n3", "switch.switch.node", "n3"}), (SwitchPath{"spine", "leaf1"}));
  EXPECT_EQ(discover({"", "n3", "node", "n3"}), SwitchPath{}) << "Slurm knows of no switches";
  const std::string conf =
      "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n3\nSwitchName=spine Switches=leaf[0-1]\n";
  const Folder folder(std::map<std::string, std::string>{{"topology.conf", conf}});
  EXPECT_EQ(discover({folder.path() + "/topology.conf", "", "", "n3.cluster.org"}),
            (SwitchPath{"spine", "leaf1"}))
      << "as the address that Slurm makes of the same file";
  EXPECT_EQ(discover({conf, "x.n0", "switch.node", "n0"}), (SwitchPath{"spine", "leaf0"}));
  EXPECT_EQ(error_of([&] { discover({conf, "", "", "elsewhere"}); }), "'elsewhere' is not in this machine");
  EXPECT_NE(error_of([&] { discover({"", "a.b", "block.node", "b"}); }), "");
}

TEST(Discover, KnowsWhatSlurmHasToldThisTask) {
  setenv("SLURM_TOPOLOGY_ADDR", "leaf0.n0", 1);
  setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.node", 1);
  const Hints hints = hints_of_this_task("");
  unsetenv("SLURM_TOPOLOGY_ADDR");
  unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
  EXPECT_FALSE(hints.node.empty());
  EXPECT_EQ(discover(hints), SwitchPath{"leaf0"});
  EXPECT_EQ(discover(hints_of_this_task("")), std::nullopt);
}

}  // namespace
}  // namespace hocket::topology
