// The model of schedules: what it counts, against formulas on paper.
#include "tuning/model.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hocket::tuning {
namespace {

using ir::Collective;
using ir::Rank;

/// 16 nodes under 4 switches, dealt out one by one; 1 us for a KiB on every link.
const passes::Neighbourhood& cluster() {
  static const passes::Neighbourhood near = [] {
    passes::GroupNumbers nodes, leaves;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      nodes.push_back(rank);
      leaves.push_back(rank % 4);
    }
    return passes::Neighbourhood({nodes, leaves});
  }();
  return near;
}
const Costs costs = parse_costs("node 1 0 1\nleaf 10 0 1\nswitches 100 0 1\n", "test");
constexpr double us_per_byte = 1.0 / 1024;

passes::Recipe recipe(Collective collective, const char* name) {
  return passes::plain(*algorithms::find(collective, name));
}

Cost cost(const passes::Recipe& recipe) {
  return *Model(costs, &cluster()).of(recipe, {recipe.algorithm->collective, 16});
}

TEST(Model, AGatherIsBoundByTheLinkOfTheRoot) {
  const Cost linear = cost(recipe(Collective::gather, "linear"));
  EXPECT_DOUBLE_EQ(linear.startup_us, 100);
  EXPECT_DOUBLE_EQ(linear.us_per_byte, 15 * us_per_byte);
}

TEST(Model, ARingThatIsDealtOutSharesUplinks) {
  passes::Recipe ring = recipe(Collective::allreduce, "ring");
  const double rounds = 2 * 15;
  EXPECT_DOUBLE_EQ(cost(ring).startup_us, rounds * 100);
  EXPECT_NEAR(cost(ring).us_per_byte, rounds / 16 * 4 * us_per_byte, 1e-12);
  ring.reordered = true;
  EXPECT_NEAR(cost(ring).us_per_byte, rounds / 16 * us_per_byte, 1e-12);
}

TEST(Model, WhatGoesBothWaysAtOnceIsSlower) {
  const Costs slower = parse_costs("node 1 0 1\nleaf 10 0 1 1.5\nswitches 100 0 1 1.5\n", "test");
  const auto factor = [&](const passes::Recipe& recipe) {
    const Cost found = *Model(slower, &cluster()).of(recipe, {recipe.algorithm->collective, 16});
    return found.us_per_byte / cost(recipe).us_per_byte;
  };
  EXPECT_NEAR(factor(recipe(Collective::gather, "linear")), 1, 1e-12);
  EXPECT_NEAR(factor(recipe(Collective::allreduce, "ring")), 1.5, 1e-12);
}

TEST(Model, LeadersCrossSwitchesLessOften) {
  passes::Recipe doubling = recipe(Collective::allreduce, "recursive_doubling");
  EXPECT_DOUBLE_EQ(cost(doubling).startup_us, 2 * 100 + 2 * 10);  // partners at distances 4 and 8 share one
  doubling.by.add(passes::Level::leaves);
  EXPECT_DOUBLE_EQ(cost(doubling).startup_us, 2 * 10 + 2 * 100 + 2 * 10);
  // 2 up, 2 among the leaders; down, a leader sends to both its children at once before one of them sends on.
  EXPECT_DOUBLE_EQ(cost(doubling).us_per_byte, (2 + 2 + 3) * us_per_byte);
}

TEST(Model, SegmentsOverlapTheLevels) {
  passes::Recipe whole = recipe(Collective::allreduce, "ring");
  whole.by.add(passes::Level::leaves);
  passes::Recipe cut = whole;
  cut.segments = 16;
  EXPECT_LT(cost(cut).us_per_byte, 0.75 * cost(whole).us_per_byte);
  EXPECT_GT(cost(cut).startup_us, cost(whole).startup_us);
}

passes::Neighbourhood nodes_of(Rank each, Rank ranks) {
  passes::GroupNumbers nodes(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    nodes[rank] = static_cast<std::uint32_t>(rank) / static_cast<std::uint32_t>(each);
  return passes::Neighbourhood({nodes});
}

TEST(Model, DoesNotLookAtTooMuch) {
  const passes::Neighbourhood many = nodes_of(4, 4096);
  const Model model(costs, &many);
  const passes::Recipe ring = recipe(Collective::allreduce, "ring");
  EXPECT_FALSE(model.of(ring, {Collective::allreduce, 4096}));
  passes::Recipe cut = recipe(Collective::bcast, "knomial");
  EXPECT_TRUE(model.of(cut, {Collective::bcast, 4096}));
  cut.segments = 1024;
  EXPECT_FALSE(model.of(cut, {Collective::bcast, 4096}));
  passes::Recipe forwarded = recipe(Collective::alltoall, "bruck");  // few ops, of a thousand regions each
  forwarded.by.add(passes::Level::nodes);
  EXPECT_FALSE(model.of(forwarded, {Collective::alltoall, 4096}));
}

/// Leaders that no regular sample of ranks would meet.
TEST(Model, CountsTheSchedulesOfAllRanks) {
  const passes::Neighbourhood odd = nodes_of(3, 5 * 3 * 61);
  passes::Recipe ring = recipe(Collective::allgather, "ring");
  ring.by.add(passes::Level::nodes);
  const ir::Request request{Collective::allgather, 5 * 3 * 61};
  std::size_t size = 0;
  for (const ir::Schedule& schedule : passes::build_all(ring, request, &odd))
    size += schedule.ops.size() + schedule.regions.size();
  EXPECT_EQ(passes::size_of_all(ring, request, &odd, size), size);
  EXPECT_GT(passes::size_of_all(ring, request, &odd, 1000), 1000U);
  EXPECT_LT(passes::size_of_all(ring, request, &odd, 1000), size);
}

TEST(Model, OnlySegmentsAndLeadersNeedAllRanks) {
  const passes::Neighbourhood many = nodes_of(2, 4096);
  const Model model(costs, &many);
  passes::Recipe ring = recipe(Collective::allreduce, "ring");
  ring.by.add(passes::Level::nodes);
  const ir::Request request{Collective::allreduce, 4096};
  EXPECT_FALSE(model.is_too_large(ring, request));
  ring.segments = 2;
  EXPECT_TRUE(model.is_too_large(ring, request));
  EXPECT_FALSE(model.is_too_large(recipe(Collective::bcast, "knomial"), {Collective::bcast, 4096}));
}

TEST(Costs, SayWhatIsWrongWithThem) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      parse_costs(text, "my.costs");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("node 1 1 1\nswitches 1 1 1\n"),
            "my.costs line 2: expected 'leaf STARTUP_US MESSAGE_US US_PER_KIB [BOTH_WAYS_US_PER_KIB]'");
  EXPECT_EQ(complaint("node 1 x 1\n"), "my.costs line 1: 'x' is no time in us");
  EXPECT_EQ(complaint("node 1 -1 1\n"), "my.costs line 1: '-1' is no time in us");
  EXPECT_EQ(complaint("# nothing\n"), "my.costs has no costs of node and leaf");
  EXPECT_EQ(
      parse_costs("node 1 1 1 # far\n\nleaf 2 2 1024\nswitches 3 3 3\nswitches 4 4 4\n", "").levels.size(),
      4U);
}

}  // namespace
}  // namespace hocket::tuning
