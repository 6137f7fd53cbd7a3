// The inside of nodes, from folders as Linux has them below /sys/devices/system.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include "topology/cpu_list.hpp"
#include "topology/own_package.hpp"
#include "topology/readers.hpp"
#include "unit/topology_helpers.hpp"

namespace hocket::topology {
namespace {

using Files = std::map<std::string, std::string>;

struct Cpu {
  std::string package, core, l3;
};

void add(Files& files, int number, const Cpu& cpu) {
  const std::string own = "cpu/cpu" + std::to_string(number);
  files[own + "/topology/physical_package_id"] = cpu.package + "\n";
  files[own + "/topology/core_cpus_list"] = cpu.core + "\n";
  files[own + "/cache/index0/level"] = "1\n";
  files[own + "/cache/index0/shared_cpu_list"] = cpu.core + "\n";
  if (cpu.l3.empty()) return;
  files[own + "/cache/index3/level"] = "3\n";
  files[own + "/cache/index3/shared_cpu_list"] = cpu.l3 + "\n";
}

/// Two packages with a NUMA node, an L3 and two cores each; two threads a core, numbered as Linux does.
Files two_packages() {
  Files files = {
      {"cpu/online", "0-7\n"}, {"node/node0/cpulist", "0-1,4-5\n"}, {"node/node1/cpulist", "2-3,6-7\n"}};
  for (int i = 0; i < 8; ++i) {
    const int core = i % 4;
    add(files, i,
        {core < 2 ? "0" : "1", std::to_string(core) + "," + std::to_string(core + 4),
         core < 2 ? "0-1,4-5" : "2-3,6-7"});
  }
  return files;
}

std::string text_of_files(const Files& files) {
  const Folder folder(files);
  return text_of(read_sysfs(folder.path(), "n0"));
}

TEST(Sysfs, HasPackagesNumaNodesCachesAndCores) {
  EXPECT_EQ(text_of_files(two_packages()),
            "node n0\n  package 0\n    numa 0\n      l3 0\n        core 0,4\n        core 1,5\n"
            "  package 1\n    numa 1\n      l3 1\n        core 2,6\n        core 3,7\n");
}

TEST(Sysfs, LeavesOutCpusThatAreOffline) {
  Files files = two_packages();
  files["cpu/online"] = "0,3-4,6-7\n";
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    numa 0\n      l3 0\n        core 0,4\n"
            "  package 1\n    numa 1\n      l3 1\n        core 3,7\n        core 6\n");
  files["cpu/online"] = "0-1000\n";  // lists what has no folder
  EXPECT_EQ(text_of_files(files), text_of_files(two_packages()));
}

TEST(Sysfs, OfAContainerMayTellNothingButCpus) {
  EXPECT_EQ(text_of_files({{"cpu/online", "0-1,5\n"}}), "node n0\n  core 0\n  core 1\n  core 5\n");
  EXPECT_EQ(text_of_files({{"cpu/cpu2/online", "1\n"}, {"cpu/cpu10/online", "1\n"}, {"cpu/cpufreq/x", ""}}),
            "node n0\n  core 2\n  core 10\n");
  Files files = two_packages();
  std::erase_if(files, [](const auto& file) {
    return file.first.find("cache") != file.first.npos || file.first.starts_with("node");
  });
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    core 0,4\n    core 1,5\n  package 1\n    core 2,6\n    core 3,7\n");
  for (int i = 0; i < 8; ++i) files["cpu/cpu" + std::to_string(i) + "/topology/physical_package_id"] = "-1\n";
  EXPECT_EQ(text_of_files(files), "node n0\n  core 0,4\n  core 1,5\n  core 2,6\n  core 3,7\n");
}

TEST(Sysfs, KnowsTheOlderNameOfACoresCpus) {
  EXPECT_EQ(text_of_files({{"cpu/online", "0-3"},
                           {"cpu/cpu2/online", "1"},
                           {"cpu/cpu3/online", "1"},
                           {"cpu/cpu0/topology/thread_siblings_list", "0-1"},
                           {"cpu/cpu1/topology/thread_siblings_list", "0-1"}}),
            "node n0\n  core 0,1\n  core 2\n  core 3\n");
}

TEST(Sysfs, OfAHybridMachineHasCoresWithOneAndTwoThreads) {
  Files files = {{"cpu/online", "0-5\n"}, {"node/node0/cpulist", "0-5\n"}};
  for (int i = 0; i < 6; ++i)
    add(files, i, {"0", i < 2 ? "0-1" : i < 4 ? "2-3" : std::to_string(i), i < 5 ? "0-4" : ""});
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    numa 0\n      core 5\n      l3 0\n        core 0,1\n        core "
            "2,3\n        core 4\n")
      << "one core has no L3, as those of low power";
}

TEST(Sysfs, CutsWhatReachesOverABorder) {
  Files files = two_packages();
  files["node/node0/cpulist"] = "0-7\n";
  files.erase("node/node1/cpulist");
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    numa 0\n      l3 0\n        core 0,4\n        core 1,5\n"
            "  package 1\n    numa 0\n      l3 1\n        core 2,6\n        core 3,7\n");
  files = two_packages();
  for (int i = 0; i < 8; ++i) {
    files["cpu/cpu" + std::to_string(i) + "/topology/physical_package_id"] = "0";
    files["cpu/cpu" + std::to_string(i) + "/cache/index3/shared_cpu_list"] = "0-7";
  }
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    numa 0\n      l3 0\n        core 0,4\n        core 1,5\n"
            "    numa 1\n      l3 0\n        core 2,6\n        core 3,7\n");
}

TEST(Sysfs, IgnoresMemoryWithoutCpusAndListsOfOthers) {
  Files files = two_packages();
  files["node/node2/cpulist"] = "\n";
  files["node/node7/meminfo"] = "";
  files["cpu/cpu4/topology/core_cpus_list"] = "5-7\n";  // not its own
  EXPECT_EQ(text_of_files(files),
            "node n0\n  package 0\n    numa 0\n      l3 0\n        core 0\n        core 1,5\n        core 4\n"
            "  package 1\n    numa 1\n      l3 1\n        core 2,6\n        core 3,7\n");
}

TEST(Sysfs, SaysWhatIsWrong) {
  for (const char* wrong :
       {"x", "0-", "-1", "3-1", "0,0", "2,1", "0-99999999999999999999", "0-65536", "0x1", "1 - 2"}) {
    const Folder folder(Files{{"cpu/online", wrong}});
    EXPECT_EQ(error_of([&] { read_sysfs(folder.path(), "n0"); }),
              folder.path() + "/cpu/online: '" + wrong + "' is no list of CPUs");
  }
  const Folder folder(Files{{"cpu/online", "0"}, {"cpu/cpu0/topology/physical_package_id", "zero\n"}});
  EXPECT_EQ(error_of([&] { read_sysfs(folder.path(), "n0"); }),
            folder.path() + "/cpu/cpu0/topology/physical_package_id: 'zero' is no number");
  const Folder nothing;
  EXPECT_EQ(error_of([&] { read_sysfs(nothing.path(), "n0"); }), "no CPU below '" + nothing.path() + "'");
  EXPECT_EQ(error_of([&] { read_sysfs("/nonexistent", "n0"); }), "no CPU below '/nonexistent'");
  nothing.write("cpu/online", "\n");
  EXPECT_NE(error_of([&] { read_sysfs(nothing.path(), "n0"); }), "");
}

TEST(Sysfs, WaitsForNothing) {
  const Folder folder(Files{{"cpu/online", "0"}, {"cpu/cpu0/topology/x", ""}});
  ASSERT_EQ(mkfifo((folder.path() + "/cpu/cpu0/topology/core_cpus_list").c_str(), 0600), 0);
  EXPECT_EQ(text_of(read_sysfs(folder.path(), "n0")), "node n0\n  core 0\n");
}

TEST(Sysfs, TakesNoFileThatIsTooLong) {
  Files files = two_packages();
  files["cpu/cpu4/topology/core_cpus_list"] = std::string(100000, '0');
  EXPECT_NE(text_of_files(files).find("core 4\n"), std::string::npos) << "as if it were not there";
}

TEST(Sysfs, OfThisMachineIsRead) {
  const Tree tree = read_sysfs("/sys/devices/system", "here");
  EXPECT_GE(tree.count(Kind::core), 1u);
  EXPECT_EQ(tree.at(Tree::root).name, "here");
}

std::vector<int> own_cpus() {
  cpu_set_t allowed;
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

std::string list_of(const std::vector<int>& cpus) {
  std::string list;
  for (const int cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return list;
}

/// What a folder says of the first CPU on which this thread may run, and nothing of the others.
std::optional<std::int64_t> found_in(const std::string& package, const std::string& list,
                                     const std::string& name = "package_cpus_list") {
  const std::string own = "cpu/cpu" + std::to_string(own_cpus().front()) + "/topology/";
  const Folder folder(Files{{own + "physical_package_id", package + "\n"}, {own + name, list + "\n"}});
  return own_package(folder.path());
}

TEST(OwnPackage, HasAllCpusOnWhichTheThreadMayRun) {
  const std::string all = list_of(own_cpus());
  EXPECT_EQ(found_in("3", all), 3);
  EXPECT_EQ(found_in("3", "0-1023"), 3);
  EXPECT_EQ(found_in("3", all, "core_siblings_list"), 3) << "the older name";
  std::vector<int> others = own_cpus();
  others.pop_back();
  EXPECT_EQ(found_in("3", list_of(others)), std::nullopt) << "one of them is on another package";
  EXPECT_EQ(found_in("3", "1024-2047"), std::nullopt) << "a list that does not name the CPU itself";
}

TEST(OwnPackage, IsNothingWhereTheKernelDoesNotSay) {
  const std::string all = list_of(own_cpus());
  EXPECT_EQ(found_in("-1", all), std::nullopt);
  EXPECT_EQ(found_in("garbage", all), std::nullopt);
  EXPECT_EQ(found_in("3", "garbage"), std::nullopt);
  EXPECT_EQ(found_in("3", all, "another_list"), std::nullopt);
  EXPECT_EQ(own_package("/nowhere"), std::nullopt);
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  const auto list = cpu_list_in("0-3,8,64-511\n");
  ASSERT_TRUE(list);
  EXPECT_TRUE(contains(*list, 3) && contains(*list, 8) && contains(*list, 511));
  EXPECT_FALSE(contains(*list, 4) || contains(*list, 63) || contains(*list, 512));
  EXPECT_FALSE(cpu_list_in("3-1"));
  EXPECT_TRUE(cpu_list_in("\n")->empty());
}

}  // namespace
}  // namespace hocket::topology
