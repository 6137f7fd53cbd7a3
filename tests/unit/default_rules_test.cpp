// What the built-in table (src/tuning/default.rules) says.
#include <gtest/gtest.h>

#include "tuning/functions.hpp"
#include "tuning/model.hpp"
#include "tuning/rules.hpp"
#include "unit/situation.hpp"

namespace hocket::tuning {
namespace {

using ir::Collective;
using test::situation;

TEST(DefaultRules, ALargeAllreduceIsRenumberedWhereRanksAreInterleaved) {
  Situation s = situation(Collective::allreduce, 4, 64 << 10);
  s.across_nodes = true;
  const passes::GroupNumbers nodes = {0, 1, 2, 3};
  const passes::Neighbourhood in_turns({nodes, {0, 1, 0, 1}}), in_blocks({nodes, {0, 0, 1, 1}});
  s.near = &in_turns;
  EXPECT_EQ(Rules().choose(s).name, "ring reordered");
  s.commutative = false;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.commutative = true;
  s.blocking = false;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.background = true;
  EXPECT_EQ(Rules().choose(s).name, "ring reordered");
  s.blocking = true;
  s.background = false;
  s.near = &in_blocks;
  EXPECT_EQ(Rules().choose(s).name, "native");
}

TEST(DefaultRules, ALargeAllreduceIsTheCheapestWhereMessagesAreKnownToCost) {
  Situation s = situation(Collective::allreduce, 16, 64 << 10);
  s.across_nodes = true;
  const passes::GroupNumbers nodes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const passes::Neighbourhood in_blocks({nodes, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}});
  s.near = &in_blocks;
  const auto chosen = [&s](std::string_view costs) {
    const Costs told = parse_costs(costs, "costs");
    const Model model(told, s.near);
    Situation asked = s;
    asked.model = &model;
    return std::string(Rules().choose(asked).name);
  };
  constexpr auto slow = "node 1 0 0.1\nleaf 20 5 85\nswitches 30 5 85\n",
                 far = "node 1 0 0.1\nleaf 20 5 0.9\nswitches 900 5 0.9\n",
                 busy = "node 150 20 0.3\nleaf 150 20 85 102\nswitches 150 20 85 102\n";
  EXPECT_EQ(chosen(slow), "native");  // they might be supposed
  s.costs_told = true;
  EXPECT_EQ(chosen(slow), "ring reordered");
  EXPECT_EQ(chosen(far), "recursive_halving_doubling reordered");
  EXPECT_EQ(chosen(busy), "recursive_halving_doubling in 3 segments 2 apart reordered");
  const passes::Neighbourhood dealt_out({nodes, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}});
  s.near = &dealt_out;
  EXPECT_EQ(chosen(busy), "recursive_halving_doubling in 3 segments 2 apart reordered");
  s.commutative = false;
  EXPECT_EQ(chosen(busy), "recursive_halving_doubling") << "it keeps the order of ranks";
  s.commutative = true;
  s.near = &in_blocks;
  s.ranks = 17;
  EXPECT_EQ(chosen(slow), "native");
}

TEST(DefaultRules, ALargeAllreduceIsReducedInTheNetworkWhereItsSwitchesDo) {
  const passes::Neighbourhood pairs({{0, 0, 1, 1}}), alone({{0, 1, 2, 3}});
  Situation s = situation(Collective::allreduce, 4, 1 << 20);
  s.across_nodes = true;
  s.near = &pairs;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.in_network = true;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.streams = true;
  EXPECT_EQ(Rules().choose(s).name, "in_network by nodes(slices) in 8 segments");
  s.near = &alone;
  EXPECT_EQ(Rules().choose(s).name, "in_network");
  s.bytes = 256 << 10;
  EXPECT_EQ(Rules().choose(s).name, "in_network");
  s.blocking = false;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.blocking = true;
  s.bytes = (256 << 10) - 8;
  EXPECT_EQ(Rules().choose(s).name, "native");
}

TEST(DefaultRules, WhatComesFromOneOrGoesToOneDoesSoInTheNetworkOfThreeNodesAndMore) {
  const passes::Neighbourhood two({{0, 0, 1, 1}}), four({{0, 0, 1, 1, 2, 2, 3, 3}}), alone({{0, 1, 2, 3}});
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    const auto chosen = [collective](const passes::Neighbourhood& near, std::size_t bytes) {
      Situation s = situation(collective, near.ranks(), bytes);
      s.across_nodes = s.in_network = s.streams = true;
      s.near = &near;
      return std::string(Rules().choose(s).name);
    };
    EXPECT_EQ(chosen(two, 1 << 20), "native");
    EXPECT_EQ(chosen(four, 1 << 20), "in_network by nodes in 8 segments");
    EXPECT_EQ(chosen(four, 64 << 10), "in_network by nodes");
    EXPECT_EQ(chosen(alone, 1 << 20), "in_network");
    EXPECT_EQ(chosen(alone, 64 << 10), "in_network");
    EXPECT_EQ(chosen(alone, (64 << 10) - 8), "native");
  }
}

TEST(DefaultRules, SmallBlocksOfANodeTravelTogether) {
  Situation s = situation(Collective::alltoall, 8, 256);
  s.across_nodes = true;
  const passes::GroupNumbers leaves = {0, 0, 0, 0, 1, 1, 1, 1};
  const passes::Neighbourhood equal({{0, 0, 1, 1, 2, 2, 3, 3}, leaves}),
      one_each({{0, 1, 2, 3, 4, 5, 6, 7}, leaves}), uneven({{0, 1, 1, 1, 2, 2, 3, 3}, leaves});
  s.near = &equal;
  const Costs costs = usual_costs();
  const Model model(costs, s.near);
  s.model = &model;
  EXPECT_NE(Rules().choose(s).name.find("by nodes"), std::string::npos);
  for (const std::size_t bytes : {257U, 4096U}) {
    s.bytes = bytes;
    EXPECT_EQ(Rules().choose(s).text, "linear(window=6) by nodes") << "no more at once than switches take";
  }
  s.bytes = 4097;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.bytes = 256;
  s.equal_blocks = false;
  s.sizes_known = false;  // nobody knows whether most are empty
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.equal_blocks = s.sizes_known = true;
  s.model = nullptr;
  s.near = &one_each;
  EXPECT_EQ(Rules().choose(s).name, "native");
  s.near = &uneven;  // whose leaders cannot forward for each other
  EXPECT_EQ(Rules().choose(s).name, "linear by nodes");
}

TEST(DefaultRules, AGatherFollowsSwitchesThatAreKnown) {
  Situation s = situation(Collective::gather, 16, 1024);
  s.across_nodes = true;
  EXPECT_EQ(Rules().choose(s).name, "native");
  passes::GroupNumbers nodes, leaves;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    nodes.push_back(rank);
    leaves.push_back(rank % 4);
  }
  const passes::Neighbourhood near({nodes, leaves});
  const auto chosen = [&](const char* costs_text, std::size_t bytes) {
    const Costs costs = parse_costs(costs_text, "test");
    const Model model(costs, &near);
    s.near = &near;
    s.model = &model;
    s.bytes = bytes;
    return std::string(Rules().choose(s).name);
  };
  const char* far_leaves = "node 1 1 0\nleaf 10 1 1\nswitches 500 100 1\n";
  EXPECT_EQ(chosen(far_leaves, 1024), "linear by leaves");
  EXPECT_EQ(chosen("node 1 0 0\nleaf 10 0 1\nswitches 10 0 1\n", 1024), "linear");
  EXPECT_EQ(chosen(far_leaves, 128 << 10), "native");
}

TEST(DefaultRules, InTheBackgroundOnlyLargeMessagesBetweenNodesAreHockets) {
  const auto chosen = [](Collective collective, std::size_t bytes, bool sizes_known = true) {
    Situation s = situation(collective, 4, bytes);
    s.across_nodes = s.background = true;
    s.sizes_known = sizes_known;
    static const Rules rules;
    return rules.choose(s).name;
  };
  using enum Collective;
  for (const Collective collective :
       {bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan, exscan}) {
    EXPECT_EQ(chosen(collective, (std::size_t{64} << 10U) - 1), "native");
    EXPECT_NE(chosen(collective, (std::size_t{64} << 10U) + 1), "native");
  }
  for (const Collective collective : {gather, scatter, alltoall})
    EXPECT_EQ(chosen(collective, std::size_t{1} << 20U, false), "native");
  EXPECT_EQ(chosen(Collective::barrier, 0), "native");
  EXPECT_EQ(chosen(Collective::allreduce, std::size_t{64} << 10U), "ring");
  EXPECT_EQ(chosen(Collective::alltoall, std::size_t{64} << 10U), "linear");
  EXPECT_EQ(chosen(Collective::bcast, std::size_t{64} << 10U), "native");
  EXPECT_EQ(chosen(Collective::bcast, (std::size_t{64} << 10U) + 1), "knomial");
}

TEST(DefaultRules, ABroadcastOfTheEagerLimitPaysByAWorker) {
  Situation s = situation(Collective::bcast, 4, std::size_t{64} << 10U);
  s.across_nodes = s.background = s.worker = true;
  EXPECT_EQ(Rules().choose(s).name, "knomial");
  s.collective = Collective::gather;
  EXPECT_EQ(Rules().choose(s).name, "native");
}

TEST(DefaultRules, OnOneNodeAWorkerDoesWhatItsRanksDoNotDoFasterTogether) {
  const auto chosen = [](Collective collective, ir::Rank ranks, std::size_t kibibytes, bool mapped,
                         bool whole_node = true) {
    Situation s = situation(collective, ranks, kibibytes << 10U);
    s.blocking = false;
    s.background = s.worker = true;
    s.mapped = mapped;
    s.whole_node = whole_node;
    static const Rules rules;
    return rules.choose(s).name;
  };
  using enum Collective;
  EXPECT_EQ(chosen(alltoall, 2, 4096, true), "linear");
  EXPECT_EQ(chosen(alltoall, 4, 64, true), "linear");
  EXPECT_EQ(chosen(alltoall, 4, 64, true, false), "native");
  EXPECT_EQ(chosen(alltoall, 4, 256, true), "native");
  EXPECT_EQ(chosen(allgather, 4, 64, true), "ring");
  EXPECT_EQ(chosen(bcast, 4, 1024, true), "knomial");
  EXPECT_EQ(chosen(bcast, 4, 64, true), "native");
  EXPECT_EQ(chosen(bcast, 2, 4096, true), "native");
  EXPECT_EQ(chosen(bcast, 8, 1024, true), "native");
  for (const Collective collective :
       {bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan, exscan}) {
    EXPECT_EQ(chosen(collective, 2, 1024, false), "native");
    EXPECT_EQ(chosen(collective, 16, 1024, true), "native");
    EXPECT_EQ(chosen(collective, 2, 8, true), "native");
  }
}

TEST(DefaultRules, TwoRanksOnTwoNodesExchangeOneMessageInTheBackground) {
  Situation s = situation(Collective::allreduce, 2, std::size_t{1} << 20U);
  s.across_nodes = s.background = true;
  EXPECT_EQ(Rules().choose(s).name, "recursive_doubling");
  s.collective = Collective::bcast;
  const tuning::Choice bcast = Rules().choose(s);
  EXPECT_EQ(bcast.recipe.algorithm->name, "knomial");
  EXPECT_EQ(algorithms::parameter(*bcast.recipe.algorithm, bcast.recipe.parameters, "segments", 0), 1);
}

TEST(DefaultRules, DecideEveryCallAndSayWhy) {
  const Rules rules;
  for (const FunctionName& f : function_names)
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{8}, std::size_t{1} << 20, std::size_t{1} << 40})
      for (const bool commutative : {true, false}) {
        Situation s = situation(f.collective, 7, bytes);
        s.commutative = commutative;
        s.equal_blocks = f.form != Form::unequal;
        s.sizes_known = s.equal_blocks || f.collective == Collective::allgather ||
                        f.collective == Collective::reduce_scatter;
        const Choice choice = rules.choose(s);
        EXPECT_NE(choice.recipe.algorithm, nullptr) << f.name;
        EXPECT_NE(choice.reason.find("->"), choice.reason.npos) << f.name;
      }
}

TEST(DefaultRules, KeepTheirTextsWhenMoved) {
  Rules first;
  const std::string text(first.texts().at(0));
  const Rules second(std::move(first));
  EXPECT_EQ(second.texts().at(0), text);
}

}  // namespace
}  // namespace hocket::tuning
