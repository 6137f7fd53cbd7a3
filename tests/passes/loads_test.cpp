// What schedules put on the links of a cluster: each byte once over a boundary, where that is the promise.
#include "passes/loads.hpp"

#include <gtest/gtest.h>

#include "passes/recipe.hpp"

namespace hocket::passes {
namespace {

using ir::Collective;

constexpr std::size_t memory = 0, card = 1, uplink = 2;

/// 16 ranks on 8 nodes under 4 switches; ranks are dealt out to the switches one by one.
const Neighbourhood& cluster() {
  static const Neighbourhood near = [] {
    GroupNumbers nodes, leaves;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      nodes.push_back(rank % 8);
      leaves.push_back(rank % 4);
    }
    return Neighbourhood({nodes, leaves});
  }();
  return near;
}

std::vector<ir::Schedule> schedules(Collective collective, const char* name, const By& by = {},
                                    bool reordered = false) {
  Recipe recipe = plain(*algorithms::find(collective, name));
  recipe.by = by;
  recipe.reordered = reordered;
  return build_all(recipe, {collective, 16}, &cluster());
}

By by(Level level) {
  By levels;
  levels.add(level);
  return levels;
}

TEST(Loads, AGatherByLeavesSendsEachBlockOverAnUplinkOnce) {
  const auto found = loads(schedules(Collective::gather, "linear", by(Level::leaves)), &cluster());
  for (std::uint32_t leaf = 1; leaf < 4; ++leaf) {
    EXPECT_EQ(found.at({uplink, leaf, true}), 4U);
    EXPECT_FALSE(found.contains({uplink, leaf, false}));
  }
  EXPECT_EQ(found.at({uplink, 0, false}), 12U);
}

TEST(Loads, ABinomialGatherSendsBlocksToAndFro) {
  // Ranks at distances 4 and 8 share a switch: all blocks come by distances 1 and 2.
  const auto found = loads(schedules(Collective::gather, "knomial"), &cluster());
  std::uint64_t out = 0;
  for (std::uint32_t leaf = 0; leaf < 4; ++leaf)
    if (const auto link = found.find({uplink, leaf, true}); link != found.end()) out += link->second;
  EXPECT_GT(out, 12U);
}

TEST(Loads, ARingInOrderCrossesEachUplinkTwice) {
  const double all_but_one = 2.0 * 15 / 16;
  EXPECT_DOUBLE_EQ(busiest(schedules(Collective::allreduce, "ring", {}, true), &cluster(), uplink),
                   all_but_one);
  EXPECT_DOUBLE_EQ(busiest(schedules(Collective::allreduce, "ring"), &cluster(), uplink), 4 * all_but_one);
}

TEST(Loads, RanksOfANodeMeetInItsMemory) {
  const auto found = loads(schedules(Collective::gather, "linear", by(Level::nodes)), &cluster());
  EXPECT_EQ(found.at({memory, 0, true}), 1U);
  EXPECT_EQ(found.at({card, 0, false}), 14U);
  EXPECT_EQ(found.at({card, 1, true}), 2U);
}

TEST(Loads, NothingIsKnownOfNodes) {
  const auto linear = schedules(Collective::gather, "linear");
  EXPECT_DOUBLE_EQ(busiest(linear, nullptr, card), 15);
  EXPECT_DOUBLE_EQ(busiest(linear, nullptr, uplink), 0);
}

}  // namespace
}  // namespace hocket::passes
