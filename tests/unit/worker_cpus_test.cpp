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

CpuMask first(std::size_t count) {
  CpuMask mask;
  for (std::size_t cpu = 0; cpu < count; ++cpu) mask.set(cpu);
  return mask;
}

/// A machine of which nothing is known: each CPU is a core.
LeftCpus left_of(const std::vector<CpuMask>& ranks, std::size_t machine) {
  return left_by(ranks, first(machine), "/nowhere");
}

TEST(WorkerCpus, AreThoseOfNoBoundRank) {
  const LeftCpus left = left_of({cpus({0}), cpus({1, 2})}, 4);
  EXPECT_EQ(left.cpus, cpus({3}));
  EXPECT_EQ(left.roam, 0U);
  EXPECT_TRUE(left.are_enough_for(1));
  EXPECT_FALSE(left.are_enough_for(2));
}

TEST(WorkerCpus, AreNoneWhereRanksHaveAllOfThem) {
  EXPECT_FALSE(left_of({cpus({0, 1}), cpus({2, 3})}, 4).are_enough_for(1)) << "as with threads in each rank";
}

TEST(WorkerCpus, AreCountedWhereRanksRoam) {
  EXPECT_TRUE(left_of({first(4), first(4), first(4)}, 4).are_enough_for(1));
  EXPECT_FALSE(left_of({first(4), first(4), first(4), first(4)}, 4).are_enough_for(1));
  EXPECT_FALSE(left_of({first(8), first(8)}, 4).are_enough_for(3)) << "a rank may have more than the worker";
  const LeftCpus mixed = left_of({cpus({0}), first(4)}, 4);
  EXPECT_EQ(mixed.cpus, cpus({1, 2, 3}));
  EXPECT_TRUE(mixed.are_enough_for(2));
  EXPECT_FALSE(mixed.are_enough_for(3)) << "the one that roams needs one, too";
}

TEST(WorkerCpus, AreNotOnTheCoreOfARank) {
  const Folder folder({{"cpu/cpu0/topology/core_cpus_list", "0,4\n"},
                       {"cpu/cpu1/topology/thread_siblings_list", "1,5\n"},
                       {"cpu/cpu2/topology/core_cpus_list", "garbage\n"}});
  const std::vector ranks{cpus({0}), cpus({1}), cpus({2})};
  EXPECT_EQ(left_by(ranks, first(8), folder.path()).cpus, cpus({3, 6, 7}));
}

TEST(WorkerCpus, ArePartsWhereThereAreEnough) {
  const LeftCpus left{cpus({1, 3, 5, 7, 9})};
  EXPECT_EQ(part_of(left, 0, 2), cpus({1, 3}));
  EXPECT_EQ(part_of(left, 1, 2), cpus({5, 7, 9}));
  EXPECT_EQ(part_of(left, 4, 5), cpus({9}));
  EXPECT_EQ(part_of(left, 0, 1), left.cpus);
  EXPECT_EQ(part_of(left, 0, 6), left.cpus) << "more workers than CPUs";
  EXPECT_EQ(part_of({left.cpus, 1}, 0, 2), left.cpus) << "who knows where the rank is";
}

}  // namespace
}  // namespace hocket::engine::handover
