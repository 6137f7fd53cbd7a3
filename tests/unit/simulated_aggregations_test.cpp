// Switches that reduce, against closed formulas of a tree of them.
#include <gtest/gtest.h>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "executors/simulated/goal.hpp"
#include "executors/simulated/simulate.hpp"
#include "executors/simulated/traffic.hpp"
#include "passes/align.hpp"
#include "passes/segment.hpp"

namespace {

using namespace hocket;
using namespace hocket::executors::simulated;
using ir::Collective;

constexpr double rate = 0.957 * 100e6 / 8 / 1e9;  // bytes per ns: 100 Mbit/s without headers
constexpr double o = 500, in_leaf = 1e4, beyond = 2e4, each_switch = 300;
constexpr std::uint64_t megabyte = 1 << 20;

Level level(const char* name, Rank ranks, double latency, std::optional<Link> link = {}) {
  return {name, ranks, std::string(name) == "node", {{0, latency, o, o, 0}}, link};
}

/// Nodes of one rank, 4 of them under a leaf, and a switch above all leaves.
Network lab() {
  return {.levels = {level("node", 1, 0, Link{0, 1 / rate}), level("leaf", 4, in_leaf, Link{0, 1 / rate}),
                     level("all", 0, beyond)},
          .switches = Switches{each_switch, 0}};
}

ScheduleOf schedules(Collective collective, Rank ranks) {
  const auto& row = *algorithms::find(collective, "in_network");
  const ir::Request request{.collective = collective, .ranks = ranks, .parameters = presets(row)};
  return [&row, request](Rank rank) { return algorithms::build(row, request.seen_by(rank)); };
}

ScheduleOf segmented(Rank ranks, std::uint32_t segments) {
  std::vector<ir::Schedule> all;
  for (Rank rank = 0; rank < ranks; ++rank) all.push_back(schedules(Collective::allreduce, ranks)(rank));
  const auto times = passes::align(all);
  return [all, times, segments](Rank rank) {
    const auto r = static_cast<std::size_t>(rank);
    return passes::segment_aligned(all[r], times[r], {segments});
  };
}

double time_of(Collective collective, Rank ranks, std::uint64_t bytes, const Network& network = lab()) {
  return simulate(ranks, schedules(collective, ranks), bytes, network).slowest().finish;
}

/// Up and down over so many switches, the bytes once.
double formula(double latency, int switches, std::uint64_t bytes) {
  return 2 * o + latency + switches * each_switch + static_cast<double>(bytes) / rate;
}

TEST(Aggregations, TakeTheirBytesOnceWhateverTheNumberOfNodes) {
  for (const Rank ranks : {8, 16, 64, 1024})
    EXPECT_NEAR(time_of(Collective::allreduce, ranks, megabyte), formula(beyond, 3, megabyte), 1) << ranks;
}

TEST(Aggregations, TurnBackAtTheFirstSwitchThatSeesAll) {
  EXPECT_NEAR(time_of(Collective::allreduce, 4, megabyte), formula(in_leaf, 1, megabyte), 1);
}

TEST(Aggregations, OfNoBytesTakeTheWayAlone) {
  EXPECT_NEAR(time_of(Collective::barrier, 16, 0), formula(beyond, 3, 0), 1);
}

TEST(Aggregations, InSegmentsFollowEachOtherOverTheLinks) {
  const double whole = time_of(Collective::allreduce, 16, megabyte);
  const double in_parts = simulate(16, segmented(16, 16), megabyte, lab()).slowest().finish;
  EXPECT_NEAR(in_parts / whole, 1, 0.001);
}

TEST(Aggregations, WaitForASlowSwitch) {
  Network network = lab();
  network.switches->G = 2 / rate;
  EXPECT_NEAR(time_of(Collective::allreduce, 16, megabyte, network) / formula(beyond, 3, 2 * megabyte), 1,
              0.001);
}

/// The second one's bytes go out after the first one's, and so do their results come in; the switch adds only
/// when both are there.
TEST(Aggregations, OfRanksOfANodeShareItsLink) {
  Network network = lab();
  network.levels[0].ranks = 2;
  EXPECT_NEAR(time_of(Collective::allreduce, 8, megabyte, network) / formula(beyond, 3, 3 * megabyte), 1,
              0.001);
}

TEST(Aggregations, HaveClassesThatSayTheSameAsAllRanks) {
  const auto schedule_of = schedules(Collective::allreduce, 64);
  const Network network = lab();
  const Classes all = classify(64, schedule_of, megabyte, network, most_steps);
  const Classes few = classify(64, schedule_of, megabyte, network, all.steps / 2);
  ASSERT_LT(few.period, all.period);
  const Prediction whole = simulate(all, network), part = simulate(few, network);
  for (Rank r = 0; r < 64; ++r) EXPECT_DOUBLE_EQ(part.of(r).finish, whole.of(r).finish) << r;
}

TEST(Aggregations, SendOneStreamOutOfEachSwitch) {
  const Network network = lab();
  for (const std::uint64_t most : {most_steps, std::uint64_t{100}}) {
    const Classes classes = classify(64, schedules(Collective::allreduce, 64), megabyte, network, most);
    const auto found = traffic(classes, network);
    EXPECT_EQ(found[0].bytes, 64 * megabyte);
    EXPECT_EQ(found[1].bytes, 16 * megabyte);
    EXPECT_EQ(found[1].most, megabyte);
  }
}

TEST(Aggregations, OfABroadcastComeFromItsRootAlone) {
  const Network network = lab();
  const auto found =
      traffic(classify(16, schedules(Collective::bcast, 16), megabyte, network, most_steps), network);
  EXPECT_EQ(found[0].bytes, megabyte);
  EXPECT_EQ(found[1].bytes, megabyte);
}

/// Nothing comes back to who does not want it: while one leaf's link takes the result in, the others' are
/// free.
TEST(Aggregations, OfAReduceComeBackToTheRootAlone) {
  const Network network = lab();
  const auto found =
      traffic(classify(16, schedules(Collective::reduce, 16), megabyte, network, most_steps), network);
  EXPECT_EQ(found[0].bytes, 16 * megabyte);
  const Prediction all = simulate(16, schedules(Collective::reduce, 16), megabyte, network);
  EXPECT_NEAR(all.of(0).finish, formula(beyond, 3, megabyte), 1);
  EXPECT_NEAR(all.of(15).finish, formula(beyond, 3, 0), 1) << "hears of its end with the first byte";
}

TEST(Aggregations, OfNothingAreNotStarted) {
  EXPECT_EQ(time_of(Collective::allreduce, 16, 0), 0);
}

/// Rank r on node r mod 8, whose network card nobody waits for: one class stands for all.
TEST(Aggregations, OfRanksDealtOutToNodesSendOneStreamOutOfEachSwitch) {
  Network network = lab();
  for (std::uint32_t r = 0; r < 64; ++r) network.levels[0].group_of.push_back(r % 8);
  for (std::uint32_t r = 0; r < 64; ++r) network.levels[1].group_of.push_back(r % 8 / 4);
  for (Level& level : network.levels) level.link.reset();
  const auto schedule_of = schedules(Collective::allreduce, 64);
  const Classes all = classify(64, schedule_of, megabyte, network, most_steps);
  const Classes few = classify(64, schedule_of, megabyte, network, all.steps / 2);
  ASSERT_LT(few.period, 8);
  for (const Classes* const classes : {&all, &few}) {
    const auto found = traffic(*classes, network);
    EXPECT_EQ(found[0].bytes, 64 * megabyte);
    EXPECT_EQ(found[0].most, 8 * megabyte);
    EXPECT_EQ(found[1].bytes, 2 * megabyte);
    EXPECT_EQ(found[1].most, megabyte);
  }
}

TEST(Aggregations, OfClassesUnderOneLeafTurnBackThere) {
  Network network = lab();
  network.levels[1].ranks = 64;
  const auto schedule_of = schedules(Collective::allreduce, 64);
  const Classes all = classify(64, schedule_of, megabyte, network, most_steps);
  const Classes few = classify(64, schedule_of, megabyte, network, all.steps / 2);
  ASSERT_LT(few.period, all.period);
  EXPECT_NEAR(simulate(few, network).slowest().finish, formula(in_leaf, 1, megabyte), 1);
  EXPECT_EQ(traffic(few, network)[1].bytes, 0);
}

TEST(Aggregations, AreRefusedOnOneNode) {
  Network network = lab();
  network.levels = {{"all", 0, true, {{0, 100, o, o, 0}}}};
  EXPECT_THROW(time_of(Collective::allreduce, 4, megabyte, network), Error);
}

TEST(Aggregations, AreRefusedWithoutSwitches) {
  Network network = lab();
  network.switches.reset();
  EXPECT_THROW(time_of(Collective::allreduce, 16, megabyte, network), Error);
}

TEST(Aggregations, AreNoWordOfGoal) {
  const auto schedule = schedules(Collective::barrier, 4)(0);
  EXPECT_THROW(goal_of(trace_of(schedule, 0), 0, 4, lab()), Error);
}

}  // namespace
