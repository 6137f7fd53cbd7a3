// Everything that a tree of a machine is read from, damaged, cut short, and large on purpose.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "each_text.hpp"
#include "topology/latency_matrix.hpp"
#include "topology/readers.hpp"
#include "topology/source.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

const Words& words_of_all() {
  static const Words words = {
      "Switch",    "Ca",    "Rt",          "\"S-1\"",     "\"H-1\"", "\"",
      "# \"a b\"", "[1]",   "n0",          "n[0-3]",      "[0-9",    "]",
      "Nodes=",    "/row0", "SwitchName=", "Switches=",   "leaf0",   "network",
      "node",      "core",  "package",     "  ",          "leaf:4",  "node:4",
      "0.5",       "-",     "\\",          "\x1b[2J",     "1048576", "[0-1048575]",
      "nan",       "1e308", "Chassis 1",   "Non-Chassis", "vendid=", "sysimgguid=0x1"};
  return words;
}

struct Good {
  std::string_view format;
  std::string text;
};

const std::vector<Good>& all_good() {
  static const std::vector<Good> all = {
      {"ibnetdiscover", sample("two-levels.txt")},
      {"ibnetdiscover", sample("three-levels.txt")},
      {"ibnetdiscover", sample("directors-grouped.txt")},
      {"slurm",
       "SwitchName=leaf0 Nodes=n[0-1] LinkSpeed=100\nSwitchName=leaf1 \\\nNodes=n[2,04-7]x\n"
       "# spine\nSwitchName=spine Switches=leaf[0-1]\n"},
      {"racks", "n[0-1] /row0/rack0\nn2 /row0/rack1 # remark\n\nn3 /row1/rack0\n"},
      {"matrix", "us n0 n1 n2 n3\nn0 0 1 4 4\nn1 1 0 4 4\nn2 4 4 0 1\nn3 4 4 1 0\n"},
      {"tree", text_of(synthetic("leaf:2 node:2 socket:2 core:2"))},
      {"synthetic", "row:2 leaf:2 node:2 socket:2 numa:1 l3:2 core:2"},
  };
  return all;
}

/// What is understood is a tree that can be written and read again; what is refused is told in a line.
void expect_refused_or_understood(std::string_view format, const std::string& text) {
  try {
    const std::string written = text_of(read({format, text, "t"}));
    EXPECT_EQ(text_of(parse_tree(written, "written")), written);
  } catch (const Error& problem) {
    const std::string_view said = problem.what();
    EXPECT_FALSE(said.empty());
    EXPECT_LT(said.size(), 500u);
    EXPECT_EQ(said.find_first_of("\n\x1b"), said.npos) << said;
  }
}

TEST(TopologyText, IsRefusedOrUnderstood) {
  each_text(words_of_all(), [](DamagedText& choice) {
    const Good& good = all_good()[choice.below(all_good().size())];
    std::string text = choice.below(8) == 0 ? choice.nonsense() : choice.damaged(good.text);
    if (choice.below(4) == 0) text.resize(choice.below(text.size() + 1));  // cut short
    SCOPED_TRACE(std::string(good.format) + ":\n" + text);
    expect_refused_or_understood(good.format, text);
    expect_refused_or_understood(format_of(text), text);
  });
}

TEST(TopologyText, AddressesOfSlurmAreRefusedOrUnderstood) {
  each_text({".", "switch", "node", "n0", "[0-1]"}, [](DamagedText& choice) {
    const std::string address = choice.damaged("spine.leaf0.n0"),
                      pattern = choice.damaged("switch.switch.node");
    SCOPED_TRACE(address + " " + pattern);
    if (const auto names = parsed([&] { return parse_slurm_address(address, pattern); })) {
      EXPECT_FALSE(names->empty());
      for (const std::string& name : *names) EXPECT_FALSE(name.empty());
    }
  });
}

TEST(TopologyText, FilesOfSysAreRefusedOrUnderstood) {
  const std::map<std::string, std::string> good = {{"cpu/online", "0-3\n"},
                                                   {"cpu/cpu0/topology/physical_package_id", "0\n"},
                                                   {"cpu/cpu1/topology/core_cpus_list", "0-1\n"},
                                                   {"cpu/cpu2/cache/index3/level", "3\n"},
                                                   {"cpu/cpu2/cache/index3/shared_cpu_list", "2-3\n"},
                                                   {"cpu/cpu3/topology/thread_siblings_list", "3\n"},
                                                   {"node/node0/cpulist", "0-1\n"},
                                                   {"node/node1/cpulist", "2-3\n"}};
  const Folder folder(good);
  each_text({"0-3", ",", "-", "65535", "65536", "4294967295"}, [&](DamagedText& choice) {
    auto file = good.begin();
    std::advance(file, choice.below(good.size()));
    const std::string text = choice.below(4) == 0 ? choice.nonsense() : choice.damaged(file->second);
    SCOPED_TRACE(file->first + ": " + text);
    folder.write(file->first, text);
    if (const auto tree = parsed([&] { return text_of(read_sysfs(folder.path(), "n")); })) {
      EXPECT_EQ(text_of(parse_tree(*tree, "written")), *tree);
    }
    folder.write(file->first, file->second);
  });
}

double seconds_for(const std::function<std::string(int)>& text, int size) {
  const std::string given = text(size);
  const auto start = std::chrono::steady_clock::now();
  parsed([&] { return text_of(read({format_of(given), given, "t"})); });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Eight times the text is some eight times the work: 64 times were quadratic. Asked again, since others may
/// have had the processor.
void expect_no_blow_up(const char* what, const std::function<std::string(int)>& text, int size) {
  double ratio = 0;
  for (int i = 0; i < 5; ++i) {
    const double small = std::max(seconds_for(text, size), 1e-4), large = seconds_for(text, 8 * size);
    ratio = large / small;
    if (ratio < 30) return;
  }
  ADD_FAILURE() << what << ": " << ratio << " times as long";
}

std::string repeated(int times, const std::function<std::string(int)>& one) {
  std::string text;
  for (int i = 0; i < times; ++i) text += one(i);
  return text;
}

std::string switch_block(int id, const std::string& cables) {
  return "Switch 4 \"S-" + std::to_string(id) + "\" # \"s" + std::to_string(id) + "\"\n" + cables;
}

std::string cable(const std::string& id) {
  return "[1] \"" + id + "\"[1] # \"" + id + "\"\n";
}

TEST(LargeTopologyText, TakesNoLongerThanItIsLong) {
  const auto number = [](int i) { return std::to_string(i); };
  expect_no_blow_up(
      "a spine above many leaves",
      [&](int size) {
        return repeated(size,
                        [&](int i) { return switch_block(i, cable("H-" + number(i)) + cable("S-spine")); });
      },
      2000);
  expect_no_blow_up(
      "leaves apart from each other",
      [&](int size) {
        return repeated(size, [&](int i) { return switch_block(i, cable("H-" + number(i))); });
      },
      2000);
  expect_no_blow_up(
      "a chain of switches",
      [&](int size) {
        return repeated(size, [&](int i) {
          return switch_block(i, (i == 0 ? cable("H-0") : "") + cable("S-" + number(i + 1)));
        });
      },
      2000);
  expect_no_blow_up(
      "switches of one name",
      [&](int size) {
        return repeated(size, [&](int i) {
          return "Switch 4 \"S-" + number(i) + "\" # \"same\"\n" + cable("H-" + number(i));
        });
      },
      2000);
  expect_no_blow_up(
      "chips of many chassis, and of one",
      [&](int size) {
        return repeated(size, [&](int i) {
          return (i < size / 2 ? "Chassis " + number(i / 2) : "sysimgguid=0x1") + "\n" +
                 switch_block(i, cable("H-" + number(i)) + cable("S-spine"));
        });
      },
      2000);
  expect_no_blow_up(
      "racks",
      [&](int size) {
        return repeated(size, [&](int i) {
          return "n" + number(i) + " /row" + number(i % 7) + "/rack" + number(i) + "\n";
        });
      },
      5000);
  expect_no_blow_up(
      "Slurm's lines",
      [&](int size) {
        return repeated(
                   size,
                   [&](int i) { return "SwitchName=s" + number(i) + " Nodes=n" + number(i) + "x[0-3]\n"; }) +
               "SwitchName=top Switches=s[0-" + number(size - 1) + "]\n";
      },
      2000);
  expect_no_blow_up(
      "one line of Slurm over many",
      [&](int size) {
        return "SwitchName=s Nodes=n0" + repeated(size, [&](int i) { return ",\\\nm" + number(i); }) + "\n";
      },
      5000);
  expect_no_blow_up(
      "a written tree",
      [&](int size) {
        return "network all\n" + repeated(size, [&](int i) { return "  node n" + number(i) + "\n"; });
      },
      10000);
  expect_no_blow_up(
      "opened brackets",
      [&](int size) { return "n" + std::string(static_cast<std::size_t>(size), '[') + " /a\n"; }, 10000);
  expect_no_blow_up(
      "many brackets", [&](int size) { return "n" + repeated(size, [](int) { return "[0]"; }) + " /a\n"; },
      10000);
  expect_no_blow_up(
      "a long path", [&](int size) { return "n0 " + repeated(size, [](int) { return "/a"; }) + "\n"; },
      10000);
  expect_no_blow_up(
      "a deep tree",
      [&](int size) {
        return repeated(size / 100, [](int i) {
          return std::string(static_cast<std::size_t>(2 * i), ' ') + "network a\n";
        });
      },
      10000);
}

}  // namespace
}  // namespace hocket::topology
