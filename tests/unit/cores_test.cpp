// Limits of the machine and of control groups, read from made-up roots.
#include "engine/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/memory_limits.hpp"

namespace hocket::engine {
namespace {

class MachineLimits : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "hocket_root_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void file(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content << "\n";
  }
  std::string root_;
};

constexpr std::size_t mib = 1 << 20;

TEST_F(MachineLimits, the_machine_alone) {
  file("/proc/meminfo", "MemTotal:        8388608 kB");
  EXPECT_EQ(available_memory(root_), 8192 * mib);
  EXPECT_EQ(default_budget(root_), 1024 * mib);
  EXPECT_EQ(cpu_quota(root_), 0);
}

TEST_F(MachineLimits, version_2_takes_the_smallest_on_the_way_up) {
  file("/proc/meminfo", "MemTotal:        8388608 kB");
  file("/proc/self/cgroup", "0::/a/b");
  file("/sys/fs/cgroup/a/b/memory.max", "max");
  file("/sys/fs/cgroup/a/memory.max", std::to_string(256 * mib));
  file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  file("/sys/fs/cgroup/a/cpu.max", "150000 100000");
  file("/sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(available_memory(root_), 256 * mib);
  EXPECT_EQ(default_budget(root_), 64 * mib);
  EXPECT_DOUBLE_EQ(cpu_quota(root_), 1.5);
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  EXPECT_EQ(cores_available(root_), std::min(CPU_COUNT(&cpus), 2));
}

TEST_F(MachineLimits, in_a_container_only_the_mount_exists) {
  file("/proc/self/cgroup", "0::/host/path/not/here");
  file("/sys/fs/cgroup/memory.max", std::to_string(100 * mib));
  file("/sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(available_memory(root_), 100 * mib);
  EXPECT_EQ(default_budget(root_), 50 * mib);
  EXPECT_DOUBLE_EQ(cpu_quota(root_), 0.5);
  EXPECT_EQ(cores_available(root_), 1);
}

TEST_F(MachineLimits, version_1) {
  file("/proc/meminfo", "MemTotal:        8388608 kB");
  file("/proc/self/cgroup", "7:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/");
  file("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", std::to_string(1024 * mib));
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "250000");
  file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000");
  file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(available_memory(root_), 1024 * mib);
  EXPECT_DOUBLE_EQ(cpu_quota(root_), 2.5);
}

TEST_F(MachineLimits, groups_that_share_a_quota_are_known_as_one) {
  file("/proc/self/cgroup", "0::/a");
  const std::uint64_t one = cpu_limits(root_).controller;
  EXPECT_EQ(one, cpu_limits(root_).controller);
  file("/proc/self/cgroup", "0::/b");
  EXPECT_NE(one, cpu_limits(root_).controller);
}

TEST(MachineLimitsHere, the_real_machine_has_some) {
  EXPECT_GE(cores_available(), 1);
  EXPECT_GT(default_budget(), 16 * mib);
}

}  // namespace
}  // namespace hocket::engine
