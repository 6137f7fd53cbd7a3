// Which CPUs the ranks of a node leave to its workers, on made-up machines.
#include "engine/handover/worker_cpus.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "topology_helpers.hpp"

namespace hocket::engine::handover {
namespace {

using topology::Folder;

CpuMask cpus(std::initializer_list<std::size_t> numbers) {
  CpuMask mask;
  for (const std::size_t number : numbers) mask.set(number);
  return mask;
}

CpuMask range(std::size_t first, std::size_t end) {
  CpuMask mask;
  for (std::size_t cpu = first; cpu < end; ++cpu) mask.set(cpu);
  return mask;
}

/// A machine of which nothing is known: each CPU is a core.
WorkerCpus found(const std::vector<CpuMask>& ranks, std::size_t machine, std::size_t workers = 1,
                 std::size_t worker = 0, std::size_t threads = 1) {
  return cpus_for(worker, workers, {ranks, threads}, range(0, machine), "/nowhere");
}

TEST(WorkerCpus, AreThoseOfNoBoundRank) {
  const std::vector ranks{cpus({0}), cpus({1})};
  EXPECT_TRUE(found(ranks, 4).are_enough);
  EXPECT_EQ(found(ranks, 4).cpus, cpus({2, 3}));
  EXPECT_EQ(found(ranks, 4, 2, 0).cpus, cpus({2}));
  EXPECT_EQ(found(ranks, 4, 2, 1).cpus, cpus({3}));
  EXPECT_FALSE(found(ranks, 4, 3).are_enough);
  EXPECT_FALSE(found(ranks, 2).are_enough);
  EXPECT_EQ(found(ranks, 2).left, 0U);
}

TEST(WorkerCpus, AreBesideRanksThatRoam) {
  const std::vector three(3, range(0, 4)), four(4, range(0, 4));
  EXPECT_TRUE(found(three, 4).are_enough);
  EXPECT_EQ(found(three, 4).cpus, range(0, 4));
  EXPECT_FALSE(found(four, 4).are_enough);
  EXPECT_EQ(found(three, 8).cpus, range(0, 4)) << "within what somebody has given to the ranks";
  EXPECT_EQ(found(four, 8).cpus, range(4, 8));
  EXPECT_EQ(found(three, 8, 2).cpus, range(4, 6)) << "two of them have no room there";
}

TEST(WorkerCpus, AreInDomainsThatHaveMoreCoresThanRanks) {
  const std::vector two_each{range(0, 4), range(0, 4), range(4, 8), range(4, 8)};
  EXPECT_EQ(found(two_each, 8).left, 4U);
  EXPECT_EQ(found(two_each, 8, 4).cpus, range(0, 8));
  EXPECT_FALSE(found(two_each, 8, 5).are_enough);
  EXPECT_FALSE(found(two_each, 8, 1, 0, 2).are_enough) << "two threads each";
  const std::vector one_each{range(0, 4), range(4, 8)};
  EXPECT_TRUE(found(one_each, 8).are_enough) << "as far as it is known, a rank has one thread";
  EXPECT_FALSE(found(one_each, 8, 1, 0, 4).are_enough);
  const std::vector uneven{range(0, 4), cpus({4}), cpus({5})};
  EXPECT_EQ(found(uneven, 6).cpus, range(0, 4));
}

TEST(WorkerCpus, AreNotOnACoreThatIsFull) {
  EXPECT_EQ(found({range(0, 4), cpus({0}), cpus({1})}, 4).cpus, range(2, 4))
      << "in the mask of the first, too";
  EXPECT_FALSE(found({range(0, 3), cpus({0}), cpus({1})}, 3).are_enough);
}

TEST(WorkerCpus, AreWholeCores) {
  const Folder folder({{"cpu/cpu0/topology/core_cpus_list", "0,4\n"},
                       {"cpu/cpu1/topology/thread_siblings_list", "1,5\n"},
                       {"cpu/cpu2/topology/core_cpus_list", "2,6\n"},
                       {"cpu/cpu3/topology/core_cpus_list", "garbage\n"}});
  const std::vector ranks{cpus({0}), cpus({5})};
  const auto of = [&](std::size_t worker, std::size_t workers) {
    return cpus_for(worker, workers, {ranks}, range(0, 8), folder.path());
  };
  EXPECT_EQ(of(0, 1).left, 3U) << "3 and 7 are cores, for all that is known";
  EXPECT_EQ(of(0, 1).cpus, cpus({2, 3, 6, 7}));
  EXPECT_EQ(of(0, 3).cpus, cpus({2, 6}));
  EXPECT_EQ(of(2, 3).cpus, cpus({7}));
  EXPECT_EQ(part_of(cpus({2, 3, 6}), 0, 2, folder.path()), cpus({2, 6}));
}

TEST(WorkerCpus, ArePartsOfWhatIsGiven) {
  const auto part = [](std::size_t worker, std::size_t workers) {
    return part_of(cpus({1, 3, 5, 7, 9}), worker, workers, "/nowhere");
  };
  EXPECT_EQ(part(0, 2), cpus({1, 3}));
  EXPECT_EQ(part(1, 2), cpus({5, 7, 9}));
  EXPECT_EQ(part(4, 5), cpus({9}));
  EXPECT_EQ(part(0, 1), cpus({1, 3, 5, 7, 9}));
  EXPECT_EQ(part(0, 6), cpus({1, 3, 5, 7, 9})) << "more workers than CPUs";
}

}  // namespace
}  // namespace hocket::engine::handover
