// Placements, and what ranks share: network cards and uplinks, against what links of that capacity take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "executors/simulated/repeats.hpp"
#include "executors/simulated/simulate.hpp"
#include "executors/simulated/traffic.hpp"

namespace {

using namespace hocket;
using namespace hocket::executors::simulated;
using ir::Collective;
using Groups = std::vector<std::uint32_t>;

constexpr double rate = 0.957 * 100e6 / 8 / 1e9;  // bytes per ns: 100 Mbit/s without headers
constexpr std::uint64_t megabyte = 1 << 20;

Level level(const char* name, Rank ranks, double latency, std::optional<Link> link = {}) {
  return {name, ranks, false, {{0, latency, 500, 500, 0}}, link};
}

/// Nodes of one rank, 4 of them under a leaf whose uplink is as fast as one of theirs.
Network lab() {
  return {{level("node", 1, 0, Link{0, 1 / rate}), level("leaf", 4, 1e4, Link{0, 1 / rate}),
           level("all", 0, 2e4)},
          0,
          0};
}

Network placed(Network network, const Groups& node_of) {
  network.levels[0].group_of = node_of;
  for (const std::uint32_t node : node_of) network.levels[1].group_of.push_back(node / 4);
  return network;
}

ScheduleOf schedules(Collective collective, const char* name, Rank ranks) {
  const auto& row = *algorithms::find(collective, name);
  const ir::Request request{.collective = collective, .ranks = ranks, .parameters = presets(row)};
  return [&row, request](Rank rank) { return algorithms::build(row, request.seen_by(rank)); };
}

double time_of(Collective collective, const char* name, Rank ranks, std::uint64_t bytes,
               const Network& network) {
  return simulate(ranks, schedules(collective, name, ranks), bytes, network).slowest().finish;
}

TEST(Links, TheRootsCardTakesAGatherOneAfterTheOther) {
  const double seconds = time_of(Collective::gather, "linear", 16, megabyte, lab()) * 1e-9;
  EXPECT_NEAR(seconds, 15 * 8.388608 / (0.957 * 100), 0.001);
}

TEST(Links, ARingOverAnOversubscribedUplinkTakesFourTimesAsLong) {
  Groups cyclic;
  for (std::uint32_t rank = 0; rank < 16; ++rank) cyclic.push_back(rank % 4 * 4 + rank / 4);
  const double block = time_of(Collective::allreduce, "ring", 16, megabyte, lab());
  const double across = time_of(Collective::allreduce, "ring", 16, megabyte, placed(lab(), cyclic));
  EXPECT_NEAR(block, 30 * static_cast<double>(megabyte) / 16 / rate, 0.02 * block);
  EXPECT_NEAR(across / block, 4, 0.2);
}

TEST(Links, RanksOfANodeShareItsCard) {
  const auto with_nodes_of = [](Rank ranks) {
    return Network{{level("node", ranks, 100, Link{0, 1 / rate}), level("all", 0, 2e4)}, 0, 0};
  };
  const double alone = time_of(Collective::alltoall, "pairwise", 16, megabyte, with_nodes_of(1));
  const double eight = time_of(Collective::alltoall, "pairwise", 16, megabyte, with_nodes_of(8));
  EXPECT_NEAR(alone, 15 * static_cast<double>(megabyte) / rate, 0.02 * alone);
  EXPECT_NEAR(eight, 64 * static_cast<double>(megabyte) / rate, 0.05 * eight);  // 8 ranks to 8 others
}

TEST(Links, AFastLinkDoesNotWaitForASlowOne) {
  Network network = lab();
  network.levels[1].link = Link{0, 1 / (4 * rate)};
  Groups cyclic;
  for (std::uint32_t rank = 0; rank < 16; ++rank) cyclic.push_back(rank % 4 * 4 + rank / 4);
  const double block = time_of(Collective::allreduce, "ring", 16, megabyte, network);
  EXPECT_NEAR(time_of(Collective::allreduce, "ring", 16, megabyte, placed(network, cyclic)) / block, 1, 0.3);
}

TEST(Links, CostNothingWhereTheyAreFast) {
  Network without = lab(), fast = lab();
  for (Level& each : without.levels) each.link.reset();
  for (Level& each : fast.levels)
    if (each.link) each.link = Link{0, 0};
  for (const char* name : {"linear", "binomial", "knomial"}) {
    if (!algorithms::find(Collective::scatter, name)) continue;
    EXPECT_DOUBLE_EQ(time_of(Collective::scatter, name, 32, 4000, fast),
                     time_of(Collective::scatter, name, 32, 4000, without));
  }
}

TEST(Placement, OfBlocksIsThatOfConsecutiveRanks) {
  Groups block;
  for (std::uint32_t rank = 0; rank < 32; ++rank) block.push_back(rank);
  for (const auto& row : algorithms::catalog()) {
    const ir::Request request{.collective = row.collective, .ranks = 32, .parameters = presets(row)};
    if (!algorithms::fits(row, request) || row.access != algorithms::Access::two_sided) continue;
    const std::string name(row.name);
    EXPECT_DOUBLE_EQ(time_of(row.collective, name.c_str(), 32, 4000, placed(lab(), block)),
                     time_of(row.collective, name.c_str(), 32, 4000, lab()))
        << name;
  }
}

TEST(Placement, IsChecked) {
  EXPECT_THROW(placed(lab(), Groups(15, 0)).check(16), Error);
  Network crossed = placed(lab(), Groups(16, 0));
  crossed.levels[1].group_of[3] = 1;  // a node under two leaves
  EXPECT_THROW(crossed.check(16), Error);
  Network open = lab();
  open.levels[2].link = Link{0, 1};
  EXPECT_THROW(open.check(16), Error);
  open.levels[2].link.reset();
  open.levels[0].link = Link{0, NAN};
  EXPECT_THROW(open.check(16), Error);
}

/// Classes that have links serve them as all ranks would, up to who is first of those at the same time.
TEST(Placement, ClassesShareLinksAsAllRanksDo) {
  for (const auto& [collective, name] :
       {std::pair{Collective::allgather, "ring"}, {Collective::alltoall, "pairwise"}}) {
    const auto schedule_of = schedules(collective, name, 48);
    const Classes all = classify(48, schedule_of, 4000, lab(), most_steps);
    const Classes few = classify(48, schedule_of, 4000, lab(), all.steps / 2);
    EXPECT_EQ(few.period, 4);
    const double expected = simulate(all, lab()).slowest().finish;
    EXPECT_NEAR(simulate(few, lab()).slowest().finish / expected, 1, 0.01) << name;
    const auto few_traffic = traffic(few, lab()), all_traffic = traffic(all, lab());
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(few_traffic[i].bytes, all_traffic[i].bytes) << name;
      EXPECT_EQ(few_traffic[i].most, all_traffic[i].most) << name;
    }
  }
}

TEST(Placement, ThatIsIrregularIsRefusedWhereRanksAreMany) {
  std::mt19937 random(1);
  Groups anywhere;
  for (std::uint32_t rank = 0; rank < 4096; ++rank) anywhere.push_back(rank);
  std::shuffle(anywhere.begin(), anywhere.end(), random);
  EXPECT_NO_THROW(time_of(Collective::allreduce, "recursive_doubling", 4096, 8, placed(lab(), anywhere)));
  try {
    simulate(4096, schedules(Collective::alltoall, "pairwise", 4096), 8, placed(lab(), anywhere));
    FAIL();
  } catch (const Error& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("its ranks lie where no others lie alike"), std::string::npos)
        << refusal.what();
  }
}

TEST(Traffic, OfARingLeavesEachGroupOnce) {
  const auto found =
      traffic(classify(16, schedules(Collective::allgather, "ring", 16), 100, lab(), most_steps), lab());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bytes, 16u * 15 * 100);
  EXPECT_EQ(found[1].bytes, 4u * 15 * 100);
  EXPECT_EQ(found[1].most, 15u * 100);
  EXPECT_EQ(found[1].messages, 60u);
}

TEST(Traffic, NamesTheRootsNode) {
  const auto& row = *algorithms::find(Collective::gather, "linear");
  const ir::Request request{
      .collective = Collective::gather, .ranks = 16, .root = 6, .parameters = presets(row)};
  const auto found = traffic(
      classify(
          16, [&](Rank r) { return algorithms::build(row, request.seen_by(r)); }, 100, lab(), most_steps),
      lab());
  EXPECT_EQ(found[0].busiest, 6);
  EXPECT_EQ(found[0].most, 1500u);
  EXPECT_EQ(found[1].busiest, 4);
  EXPECT_EQ(found[1].most, 1200u);
}

TEST(Repeats, AreExtrapolatedToWhatTheyTake) {
  const Network nodes = {
      {level("node", 4, 100), level("leaf", 32, 900, Link{0, 0.2}), level("all", 0, 2e4)}, 0.1, 0.2};
  for (const auto& [collective, name] : {std::pair{Collective::allgather, "ring"},
                                         {Collective::allreduce, "ring"},
                                         {Collective::reduce_scatter, "ring"}}) {
    const Classes classes = classify(4096, schedules(collective, name, 4096), 1 << 20, nodes, 1'000'000);
    EXPECT_EQ(classes.period, 32) << name;
    const Prediction whole = simulate(classes, nodes), cut = extrapolate(classes, nodes, classes.steps);
    EXPECT_TRUE(cut.extrapolated);
    EXPECT_LT(cut.steps, classes.steps / 4) << name;
    for (Rank c = 0; c < classes.period; ++c) {
      EXPECT_NEAR(cut.of(c).finish / whole.of(c).finish, 1, 1e-6) << name;
      EXPECT_NEAR(cut.of(c).busy / whole.of(c).busy, 1, 1e-6) << name;
    }
  }
}

}  // namespace
