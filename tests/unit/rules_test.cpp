// Selection: the words of rules, what options put before the built-in table, and what happens where a row
// cannot do a call. The built-in table: default_rules_test.cpp.
#include "tuning/rules.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "base/error.hpp"
#include "tuning/functions.hpp"
#include "tuning/model.hpp"
#include "tuning/parse.hpp"
#include "unit/situation.hpp"

namespace hocket::tuning {
namespace {

using ir::Collective;
using test::situation;

bool holds(const char* rule, const Situation& s) {
  return parse_rules(rule, "test").at(0).conditions.hold(s);
}

std::string name_of(const Choice& choice) {
  return std::string(choice.name);
}

std::string complaint_about(const char* rules) {
  try {
    parse_rules(rules, "my.rules");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Conditions, BoundBytesAndRanks) {
  const Situation s = situation(Collective::allreduce, 4, 2048);
  EXPECT_TRUE(holds("allreduce bytes<=2K ranks<=4 -> flat", s));
  EXPECT_TRUE(holds("allreduce bytes>=2048 ranks>3 ranks<5 -> flat", s));
  EXPECT_TRUE(holds("allreduce bytes>2047 bytes<2049 -> flat", s));
  EXPECT_FALSE(holds("allreduce bytes<2K -> flat", s));
  EXPECT_FALSE(holds("allreduce bytes>2K -> flat", s));
  EXPECT_FALSE(holds("allreduce ranks>4 -> flat", s));
  EXPECT_FALSE(holds("bcast -> flat", s));
}

TEST(Conditions, OnNodesHoldWhereTheirNumberIsKnown) {
  Situation s = situation(Collective::bcast, 4, 2048);
  EXPECT_TRUE(holds("bcast nodes<=1 -> flat", s));
  EXPECT_FALSE(holds("bcast nodes>1 -> flat", s));
  s.across_nodes = true;
  EXPECT_FALSE(holds("bcast nodes>1 -> knomial", s)) << "nobody knows";
  EXPECT_FALSE(holds("bcast nodes<=1 -> knomial", s));
  EXPECT_TRUE(holds("bcast -> knomial", s));
  const passes::Neighbourhood pairs({{0, 0, 1, 1}}), alone({{3, 2, 1, 0}});
  s.near = &pairs;
  EXPECT_TRUE(holds("bcast nodes>1 nodes<=2 -> knomial", s));
  EXPECT_FALSE(holds("bcast nodes>2 -> knomial", s));
  s.near = &alone;
  EXPECT_TRUE(holds("bcast nodes>=4 -> knomial", s));
}

TEST(Conditions, OnBytesNeverHoldWhereSizesAreUnknown) {
  Situation s = situation(Collective::gather, 4, 0);
  s.sizes_known = s.equal_blocks = false;
  EXPECT_FALSE(holds("gather bytes<=1K -> linear", s));
  EXPECT_TRUE(holds("gather -> linear", s));
  EXPECT_TRUE(holds("gather unknown unequal -> linear", s));
  EXPECT_FALSE(holds("gather !unknown -> linear", s));
}

TEST(Conditions, FlagsHoldBothWays) {
  Situation s = situation(Collective::reduce);
  EXPECT_TRUE(holds("reduce commutative predefined !oversubscribed !unequal -> flat", s));
  s.commutative = s.predefined = false;
  s.oversubscribed = true;
  EXPECT_TRUE(holds("reduce !commutative !predefined oversubscribed -> flat", s));
  EXPECT_FALSE(holds("reduce commutative -> flat", s));
}

TEST(Conditions, SingleCopyIsForThoseWhoHaveAgreed) {
  const Rules rules("", "bcast:exposed", "");
  Situation s = situation(Collective::bcast, 4, std::size_t{1} << 20U);
  EXPECT_FALSE(holds("bcast single_copy -> exposed", s));
  EXPECT_EQ(rules.choose(s).name, "flat");
  EXPECT_EQ(rules.choose(s).reason, "forced exposed does not fit: the ranks do not read each other's memory");
  s.single_copy = true;
  EXPECT_TRUE(holds("bcast single_copy -> exposed", s));
  EXPECT_EQ(rules.choose(s).name, "exposed");
  EXPECT_EQ(Rules().choose(s).reason, "bcast           single_copy bytes>=64K       -> exposed");
}

TEST(Conditions, AcrossNodesOnlyRowsThatSendAndReceiveCanRun) {
  Situation s = situation(Collective::allreduce, 4, 1024);
  s.across_nodes = true;
  EXPECT_EQ(Rules().choose(s).name, "native");
  const Rules forced("", "allreduce:ring", "");
  EXPECT_EQ(forced.choose(s).name, "ring");
  const Rules flat("", "allreduce:flat", "");
  EXPECT_EQ(flat.choose(s).name, "native");
  EXPECT_EQ(flat.choose(s).reason,
            "forced flat does not fit: reads other ranks' memory, and they are on several nodes");
}

TEST(Conditions, InTheNetworkOnlyWhatItsSwitchesTakeCanRun) {
  const Rules rules("", "allreduce:in_network, bcast:in_network", "");
  Situation s = situation(Collective::allreduce, 4, 1024);
  EXPECT_FALSE(holds("allreduce in_network -> in_network", s));
  const std::string_view reason = "forced in_network does not fit: needs switches that reduce";
  EXPECT_EQ(rules.choose(s).reason, reason) << "on one node";
  s.across_nodes = true;
  EXPECT_EQ(rules.choose(s).reason, reason) << "over messages alone";
  s.in_network = true;
  EXPECT_TRUE(holds("allreduce in_network -> in_network", s));
  EXPECT_EQ(rules.choose(s).name, "in_network");
  s.predefined = false;
  EXPECT_EQ(rules.choose(s).reason, reason) << "a function of the program's own";
  s.commutative = false;
  EXPECT_EQ(rules.choose(s).reason, "forced in_network does not fit: needs a commutative operation");
  s.collective = Collective::bcast;
  EXPECT_EQ(rules.choose(s).name, "in_network") << "reduces nothing";
}

/// Nothing predicts what switches take: the first that fits.
TEST(Cheapest, IsTheFirstWhereSwitchesReduce) {
  const passes::Neighbourhood pairs({{0, 0, 1, 1}});
  const Costs costs = usual_costs();
  const Model model(costs, &pairs);
  Situation s = situation(Collective::allreduce, 4, 1024);
  s.across_nodes = s.in_network = true;
  s.near = &pairs;
  s.model = &model;
  const auto chosen = [&](const char* force) { return std::string(Rules("", force, "").choose(s).name); };
  EXPECT_EQ(chosen("allreduce:cheapest(in_network by nodes, ring)"), "in_network by nodes");
  EXPECT_EQ(chosen("allreduce:cheapest(ring, in_network by nodes in 4 segments)"), "ring");
  EXPECT_EQ(chosen("allreduce:in_network by nodes in 16 segments"), "in_network by nodes in 16 segments");
}

TEST(Conditions, SwitchesAreKnownWhereTheyTellRanksApart) {
  Situation s = situation(Collective::gather, 4, 1024);
  const char* rule = "gather switches -> linear";
  EXPECT_FALSE(holds(rule, s));
  const passes::GroupNumbers nodes = {0, 1, 2, 3};
  const passes::Neighbourhood under_two({nodes, {0, 0, 1, 1}}), under_one({nodes, {0, 0, 0, 0}}),
      of_nodes({{0, 0, 1, 1}});
  s.near = &under_two;
  EXPECT_TRUE(holds(rule, s));
  EXPECT_FALSE(holds("gather !switches -> linear", s));
  EXPECT_FALSE(holds("gather interleaved -> linear", s));
  s.near = &under_one;
  EXPECT_FALSE(holds(rule, s));
  s.near = &of_nodes;
  EXPECT_FALSE(holds(rule, s));
}

TEST(Conditions, RanksAreInterleavedWhereThoseOfASwitchDoNotFollowEachOther) {
  Situation s = situation(Collective::allreduce, 4, 1024);
  const char* rule = "allreduce interleaved -> ring";
  EXPECT_FALSE(holds(rule, s));
  const passes::GroupNumbers nodes = {0, 1, 2, 3};
  const passes::Neighbourhood in_turns({nodes, {0, 1, 0, 1}}), in_blocks({nodes, {1, 1, 0, 0}});
  s.near = &in_turns;
  EXPECT_TRUE(holds(rule, s));
  s.near = &in_blocks;
  EXPECT_FALSE(holds(rule, s));
}

TEST(Recipes, NameTheLevelsThatTheyFollow) {
  const auto rules = parse_rules(
      "gather across_nodes -> linear by leaves\n"
      "bcast -> knomial(radix=4, segments=2) by nodes(radix=8)+switches reordered\n"
      "allreduce -> ring by leaves in 8 segments\n"
      "allreduce -> ring reordered\n"
      "reduce -> knomial by sockets+nodes with 4 leaders\n"
      "allreduce -> in_network by nodes(slices) in 4 segments\n"
      "allreduce -> ring in 3 segments 2 apart reordered\n",
      "test");
  using passes::Level;
  EXPECT_EQ(rules[0].candidates[0].name, "linear by leaves");
  EXPECT_TRUE(rules[0].candidates[0].recipe.by.has(Level::leaves));
  EXPECT_FALSE(rules[0].candidates[0].recipe.by.has(Level::nodes));
  EXPECT_EQ(rules[1].candidates[0].name, "knomial by nodes(radix=8)+switches reordered");
  EXPECT_EQ(rules[1].candidates[0].recipe.by.radix(Level::nodes), 8);
  EXPECT_EQ(rules[1].candidates[0].recipe.parameters[0], 4);
  EXPECT_TRUE(rules[1].candidates[0].recipe.reordered);
  EXPECT_EQ(rules[2].candidates[0].recipe.segments, 8U);
  EXPECT_TRUE(rules[3].candidates[0].recipe.reordered);
  EXPECT_TRUE(rules[3].candidates[0].recipe.by.empty());
  EXPECT_EQ(rules[4].candidates[0].recipe.leaders, 4U);
  EXPECT_TRUE(rules[4].candidates[0].recipe.by.has(Level::sockets));
  EXPECT_EQ(rules[4].candidates[0].name, "knomial by sockets+nodes with 4 leaders");
  EXPECT_TRUE(rules[5].candidates[0].recipe.by.has_slices());
  EXPECT_EQ(rules[5].candidates[0].name, "in_network by nodes(slices) in 4 segments");
  EXPECT_EQ(rules[6].candidates[0].recipe.segments, 3U);
  EXPECT_EQ(rules[6].candidates[0].recipe.apart, 2U);
  EXPECT_TRUE(rules[6].candidates[0].recipe.reordered);
}

TEST(Recipes, SayWhatIsWrongWithThem) {
  const auto says = [](const char* rule, const char* what) {
    const std::string complaint = complaint_about(rule);
    EXPECT_NE(complaint.find(what), std::string::npos) << rule << ": " << complaint;
  };
  says("gather -> linear by", "'by' names levels");
  says("gather -> cheapest()", "cheapest() names no algorithm");
  says("gather -> cheapest(linear, fast)", "unknown algorithm 'fast'");
  says("gather -> cheapest(linear", "')' is missing");
  says("gather -> linear by racks", "unknown level 'racks'; there are sockets, nodes, leaves, switches");
  says("gather -> linear by nodes(width=2)", "unknown parameter 'width'");
  says("gather -> linear by nodes(slices)", "only what reduces vectors has slices");
  says("bcast -> knomial by nodes(slices)", "only what reduces vectors has slices");
  says("gather -> linear by nodes(radix=1)", "radix=1 is not between 2 and 64");
  says("gather -> linear around nodes", "unknown word 'around'");
  says("gather -> linear by nodes in 4 segments", "only vectors can be cut into segments");
  says("bcast -> knomial in 4", "'segments' is missing");
  says("bcast -> knomial in 4 segments 2", "'apart' is missing");
  says("bcast -> knomial in 4 segments 0 apart", "apart=0 is not between 1 and 64");
  says("bcast -> knomial in 1 segments 2 apart", "none to be apart from");
  says("bcast -> knomial in 0 segments", "segments=0 is not between 1 and 1024");
  says("reduce -> knomial by nodes with 4", "'leaders' is missing");
  says("reduce -> knomial by nodes with 0 leaders", "leaders=0 is not between 1 and 64");
  says("reduce -> knomial with 4 leaders", "leaders are those of groups");
  says("gather -> linear by nodes with 4 leaders", "only vectors can be dealt out");
  says("gather -> flat by nodes", "'flat' does not send and receive");
  says("gather -> native by nodes", "'native' does not send and receive");
  says("scan -> recursive_doubling by nodes", "cannot be a part of a hierarchy: no hierarchy for scan");
  says("scan -> recursive_doubling reordered", "the prefixes of 'scan' follow the order of ranks");
}

TEST(Recipes, AreForRanksInSuchGroups) {
  const Rules rules("", "allreduce:ring by nodes", "");
  Situation s = situation(Collective::allreduce, 4);
  s.across_nodes = true;
  EXPECT_EQ(rules.choose(s).name, "native");
  EXPECT_EQ(rules.choose(s).reason, "forced ring by nodes does not fit: the ranks are not in such groups");
  const passes::Neighbourhood pairs({{0, 0, 1, 1}});
  s.near = &pairs;
  EXPECT_EQ(rules.choose(s).name, "ring by nodes");
  EXPECT_EQ(rules.choose(s).reason, "forced ring by nodes");
}

TEST(Cheapest, IsWhatTheModelSays) {
  const Rules rules(
      "", "gather:cheapest(linear, linear by leaves), allreduce:cheapest(recursive_doubling, ring reordered)",
      "");
  const passes::Neighbourhood dealt_out({{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 0, 1, 0, 1, 0, 1}});
  // A message between switches takes a long time on the root's CPU.
  const Costs costs = parse_costs("node 1 0 0.1\nleaf 1 0 0.1\nswitches 10 100 0.1\n", "test");
  const Model model(costs, &dealt_out);
  Situation s = situation(Collective::gather, 8, 8);
  s.across_nodes = true;
  s.near = &dealt_out;
  EXPECT_EQ(rules.choose(s).name, "linear");  // nothing is known of costs
  EXPECT_EQ(rules.considered(s).at(1).text, "linear by leaves");
  EXPECT_FALSE(rules.considered(s).at(1).predicted_us);
  s.model = &model;
  EXPECT_EQ(rules.choose(s).name, "linear by leaves");
  EXPECT_LT(rules.considered(s).at(1).predicted_us, rules.considered(s).at(0).predicted_us);
  EXPECT_EQ(rules.choose(s).reason, "forced cheapest(linear, linear by leaves)");
  s.collective = Collective::allreduce;
  EXPECT_EQ(rules.choose(s).name, "recursive_doubling");
  s.bytes = 100'000'000;
  EXPECT_EQ(rules.choose(s).name, "ring reordered");
}

/// What was not looked at may be the cheapest: then the order in the rule counts.
TEST(Cheapest, IsTheFirstWhereNotAllAreKnown) {
  passes::GroupNumbers nodes(4096);
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) nodes[rank] = rank / 2;
  const passes::Neighbourhood near({nodes});
  const Costs costs = usual_costs();
  const Model model(costs, &near);
  Situation s = situation(Collective::allreduce, 4096, 1 << 20);
  s.across_nodes = true;
  s.near = &near;
  s.model = &model;
  const auto chosen = [&](const char* force) { return std::string(Rules("", force, "").choose(s).name); };
  EXPECT_EQ(chosen("allreduce:cheapest(native, ring, recursive_doubling)"), "ring");
  EXPECT_EQ(chosen("allreduce:cheapest(recursive_doubling, ring)"), "recursive_doubling");
  EXPECT_EQ(chosen("allreduce:cheapest(ring by leaves, native)"), "native");
  const Rules rules("", "allreduce:ring by nodes in 8 segments", "");
  EXPECT_EQ(rules.choose(s).reason,
            "forced ring by nodes in 8 segments does not fit: too many ranks to place the segments of all on "
            "one clock");
}

TEST(Recipes, DoNotMixUpOperandsThatMayNotChangePlaces) {
  const Rules rules("", "allreduce:recursive_doubling by nodes", "");
  Situation s = situation(Collective::allreduce, 4);
  s.commutative = false;
  const passes::Neighbourhood dealt_out({{0, 1, 0, 1}}), in_blocks({{0, 0, 1, 1}});
  s.near = &dealt_out;
  EXPECT_EQ(
      rules.choose(s).reason,
      "forced recursive_doubling by nodes does not fit: the operation does not commute, and near ranks are "
      "not consecutive");
  s.near = &in_blocks;
  EXPECT_EQ(rules.choose(s).name, "recursive_doubling by nodes");
}

TEST(Conditions, NamesOfShapesCoverAllTheirFunctions) {
  Situation regular = situation(Collective::allgather), vector = regular;
  vector.equal_blocks = false;
  EXPECT_TRUE(holds("allgather -> ring", regular));
  EXPECT_TRUE(holds("allgather -> ring", vector));
  EXPECT_FALSE(holds("allgatherv -> ring", regular));
  EXPECT_TRUE(holds("allgatherv -> ring", vector));
  Situation block = situation(Collective::reduce_scatter);
  EXPECT_TRUE(holds("reduce_scatter_block -> ring", block));
  block.equal_blocks = false;
  EXPECT_FALSE(holds("reduce_scatter_block -> ring", block));
}

TEST(Parse, TakesParametersRemarksAndEmptyLines) {
  const auto rules =
      parse_rules("# remark\n\n  bcast bytes>8K -> knomial( radix = 4 )  # why\nbcast -> native\n", "test");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].candidates[0].recipe.parameters[0], 4);
  EXPECT_EQ(rules[0].text, "bcast bytes>8K -> knomial( radix = 4 )");
  EXPECT_EQ(rules[1].candidates[0].recipe.algorithm, nullptr);
}

TEST(Parse, SaysWhereAndWhatIsWrongAndWhatThereIs) {
  EXPECT_EQ(complaint_about("bcast -> flat\nallreduse -> flat").substr(0, 48),
            "my.rules line 2: unknown collective 'allreduse';");
  EXPECT_EQ(complaint_about("exscan -> fast"),
            "my.rules line 1: unknown algorithm 'fast' for exscan; there are flat, chain, "
            "recursive_doubling, native");
  EXPECT_NE(complaint_about("bcast sometimes -> flat").find("unknown condition 'sometimes'"),
            std::string::npos);
  EXPECT_NE(complaint_about("bcast bytes<=2Q -> flat").find("'2Q' is not a number"), std::string::npos);
  EXPECT_NE(complaint_about("bcast bytes<= -> flat").find("is not a number"), std::string::npos);
  EXPECT_NE(complaint_about("bcast bytes< -> flat").find("is not a number"), std::string::npos);
  EXPECT_NE(complaint_about("bcast bytes<0 -> flat").find("less than 0"), std::string::npos);
  EXPECT_NE(complaint_about("bcast bytes<=99999999999999999G -> flat").find("too large"), std::string::npos);
  EXPECT_NE(complaint_about("bcast flat").find("'->' is missing"), std::string::npos);
  EXPECT_NE(complaint_about("bcast -> ").find("no algorithm"), std::string::npos);
  EXPECT_NE(complaint_about("-> flat").find("unknown collective ''"), std::string::npos);
  EXPECT_NE(complaint_about("bcast ! -> flat").find("unknown condition '!'"), std::string::npos);
}

TEST(Parse, ChecksParameters) {
  EXPECT_NE(complaint_about("bcast -> knomial(radix=1)").find("radix=1 is not between 2 and 64"),
            std::string::npos);
  EXPECT_NE(complaint_about("bcast -> knomial(width=3)").find("unknown parameter 'width'; there is radix"),
            std::string::npos);
  EXPECT_NE(complaint_about("bcast -> flat(radix=3)").find("there are none"), std::string::npos);
  EXPECT_NE(complaint_about("bcast -> native(radix=3)").find("there are none"), std::string::npos);
  EXPECT_NE(complaint_about("bcast -> knomial(radix=4").find("')' is missing"), std::string::npos);
  EXPECT_NE(complaint_about("bcast -> knomial(radix)").find("is not a number"), std::string::npos);
}

TEST(Parse, SurvivesDamagedText) {
  const std::string whole = "bcast bytes<=8K ranks>2 !oversubscribed -> knomial(radix=4) # why\n";
  std::mt19937 random(2026);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = whole + whole;
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = " <>=(),!-#K4\nb"[random() % 15];
    accepted += complaint_about(text.c_str()).empty();
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 5000);
}

TEST(Force, ComesBeforeTheTableWithItsParameters) {
  const Rules rules("", "allreduce:ring, bcast:knomial(radix=4),barrier:native", "");
  EXPECT_EQ(name_of(rules.choose(situation(Collective::allreduce))), "ring");
  EXPECT_EQ(rules.choose(situation(Collective::allreduce)).reason, "forced ring");
  const Choice bcast = rules.choose(situation(Collective::bcast));
  EXPECT_EQ(name_of(bcast), "knomial");
  EXPECT_EQ(bcast.recipe.parameters[0], 4);
  EXPECT_EQ(name_of(rules.choose(situation(Collective::barrier))), "native");
}

TEST(Force, FallsToTheNextRuleAndSaysWhy) {
  const Rules rules("", "allreduce:ring,gather:flat,alltoallv:direct,allgather:recursive_doubling", "");
  Situation s = situation(Collective::allreduce);
  s.commutative = false;
  EXPECT_EQ(name_of(rules.choose(s)), "flat");
  EXPECT_EQ(rules.choose(s).reason, "forced ring does not fit: needs a commutative operation");
  s = situation(Collective::gather, 4, 0);
  s.sizes_known = s.equal_blocks = false;
  EXPECT_EQ(name_of(rules.choose(s)), "linear");
  EXPECT_EQ(rules.choose(s).reason, "forced flat does not fit: needs known sizes");
  EXPECT_EQ(rules.choose(situation(Collective::allgather, 6)).reason,
            "forced recursive_doubling does not fit: not for this number of ranks");
  EXPECT_EQ(rules.choose(situation(Collective::allgather, 8)).reason, "forced recursive_doubling");
}

TEST(Force, NamesWhatIsUnknown) {
  EXPECT_THROW(Rules("", "allreduce:rong", ""), Error);
  EXPECT_THROW(Rules("", "allreduce", ""), Error);
  EXPECT_THROW(Rules("", "bcast:knomial(radix=4", ""), Error);
}

TEST(Disable, LeavesFunctionsToTheMpi) {
  const Rules rules("allreduce,allgatherv", "allreduce:ring", "");
  EXPECT_EQ(name_of(rules.choose(situation(Collective::allreduce))), "native");
  EXPECT_EQ(rules.choose(situation(Collective::allreduce)).reason, "disabled allreduce");
  Situation s = situation(Collective::allgather);
  EXPECT_NE(name_of(rules.choose(s)), "native");
  s.equal_blocks = false;
  EXPECT_EQ(name_of(rules.choose(s)), "native");
  EXPECT_THROW(Rules("alreduce", "", ""), Error);
}

TEST(File, ComesBeforeTheTable) {
  const std::string name = testing::TempDir() + "hocket_rules_test.rules";
  std::ofstream(name) << "allreduce bytes<=1K -> multi_leader(leaders=3)\n";
  const Rules rules("", "", name);
  EXPECT_EQ(name_of(rules.choose(situation(Collective::allreduce))), "multi_leader");
  EXPECT_NE(name_of(rules.choose(situation(Collective::allreduce, 4, 4096))), "multi_leader");
  std::remove(name.c_str());
  EXPECT_THROW(Rules("", "", name), Error);
}

}  // namespace
}  // namespace hocket::tuning
