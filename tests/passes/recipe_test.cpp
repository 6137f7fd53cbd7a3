// Recipes: rows of the catalog that follow the machine mean what the rows mean, wherever ranks and roots are;
// and what cannot be followed is said before.
#include "passes/recipe.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "ir/count.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/hierarchy.hpp"
#include "passes/reorder.hpp"

namespace hocket::passes {
namespace {

using algorithms::Algorithm;
using ir::Collective;
using ir::Request;
using ir::Schedule;

GroupNumbers dealt_out(Rank ranks, Rank groups) {
  GroupNumbers row;
  for (Rank r = 0; r < ranks; ++r) row.push_back(static_cast<std::uint32_t>(r % groups));
  return row;
}
GroupNumbers in_blocks(Rank ranks, Rank per_group) {
  GroupNumbers row;
  for (Rank r = 0; r < ranks; ++r) row.push_back(static_cast<std::uint32_t>(r / per_group));
  return row;
}
GroupNumbers joined(const GroupNumbers& inner, std::uint32_t groups) {
  GroupNumbers row = inner;
  for (auto& number : row) number %= groups;
  return row;
}

std::vector<Neighbourhood> neighbourhoods(Rank ranks) {
  std::vector<Neighbourhood> all;
  all.emplace_back(std::vector<GroupNumbers>{in_blocks(ranks, 2), in_blocks(ranks, 4)});
  all.emplace_back(std::vector<GroupNumbers>{dealt_out(ranks, 6), joined(dealt_out(ranks, 6), 3)});
  all.emplace_back(
      std::vector<GroupNumbers>{in_blocks(ranks, 1), dealt_out(ranks, 4), joined(dealt_out(ranks, 4), 2)});
  std::mt19937 random(static_cast<unsigned>(ranks));
  GroupNumbers nodes;
  for (Rank r = 0; r < ranks; ++r) nodes.push_back(static_cast<std::uint32_t>(random() % 7));
  all.emplace_back(std::vector<GroupNumbers>{nodes, joined(nodes, 3)});
  return all;
}

By by(std::initializer_list<Level> levels, std::int16_t radix = By::preset) {
  By result;
  for (const Level level : levels) result.add(level, radix);
  return result;
}

std::vector<By> levels_for(Collective collective) {
  std::vector<By> all = {By{},
                         by({Level::nodes}),
                         by({Level::leaves}),
                         by({Level::switches}),
                         by({Level::leaves, Level::switches}),
                         by({Level::nodes, Level::switches}),
                         by({Level::nodes, Level::leaves}, 3)};
  if (collective == Collective::reduce || collective == Collective::allreduce)
    for (const By& sliced : {by({Level::nodes}, By::slices), by({Level::nodes, Level::leaves}, By::slices)})
      all.push_back(sliced);
  return all;
}

std::vector<Recipe> recipes_of(const Algorithm& row) {
  std::vector<Recipe> all;
  for (const bool reordered : {false, true})
    for (const By& levels : levels_for(row.collective)) {
      Recipe recipe = plain(row);
      recipe.by = levels;
      recipe.reordered = reordered;
      all.push_back(recipe);
    }
  return all;
}

/// Rows that can be parts.
bool can_follow(const Recipe& recipe) {
  const Algorithm& row = *recipe.algorithm;
  return row.access != algorithms::Access::one_sided &&
         (recipe.by.empty() || has_hierarchy(row.collective)) &&
         (!recipe.reordered || can_be_reordered(row.collective));
}

std::vector<Schedule> built(const Recipe& recipe, const Request& request, const Neighbourhood& near) {
  std::vector<Schedule> all;
  for (Rank r = 0; r < request.ranks; ++r) all.push_back(build(recipe, request.seen_by(r), &near));
  return all;
}

ir::Sizes sizes_for(const Recipe& recipe) {
  const bool leaders_keep_blocks = recipe.algorithm->collective == Collective::alltoall && !recipe.by.empty();
  return leaders_keep_blocks || recipe.algorithm->blocks == algorithms::Blocks::equal ? ir::Sizes::equal
                                                                                      : ir::Sizes::known;
}

void expect_right(const Recipe& recipe, const Request& request, const Neighbourhood& near) {
  const auto schedules = built(recipe, request, near);
  for (const bool in_place : std::set<bool>{false, recipe.algorithm->in_place}) {
    const ir::Verdict verdict = ir::verify(schedules, {in_place, !request.commutative, sizes_for(recipe)});
    ASSERT_TRUE(verdict) << name_of(request.collective) << ":" << recipe.algorithm->name << ", "
                         << request.ranks << " ranks, root " << request.root << ", in place " << in_place
                         << ": " << verdict.what << "\n"
                         << ir::to_text(schedules[0]);
  }
}

TEST(Recipe, MeansWhatTheRowMeans) {
  int proved = 0;
  for (const Algorithm& row : algorithms::catalog())
    for (const Recipe& recipe : recipes_of(row))
      for (const Rank ranks : {2, 5, 8, 12})
        for (const Neighbourhood& near : neighbourhoods(ranks))
          for (Rank root = 0; root < (ir::is_rooted(row.collective) ? ranks : 1); root += 3) {
            const Request request{row.collective, ranks, 0, root, true, {}};
            if (!can_follow(recipe) || misfit(recipe, request, &near) != Misfit::none) continue;
            expect_right(recipe, request, near);
            ++proved;
          }
  EXPECT_GT(proved, 2000);
}

TEST(Recipe, MeansTheSameInSegments) {
  int proved = 0;
  for (const Algorithm& row : algorithms::catalog())
    for (Recipe recipe : recipes_of(row))
      for (const auto& [segments, apart] : {std::pair{2U, 1U}, {5U, 1U}, {5U, 3U}})
        for (const Neighbourhood& near : neighbourhoods(8)) {
          recipe.segments = segments;
          recipe.apart = apart;
          const Request request{row.collective, 8, 0, ir::is_rooted(row.collective) ? 3 : 0, true, {}};
          if (!ir::is_vector(row.collective) || !can_follow(recipe) ||
              misfit(recipe, request, &near) != Misfit::none)
            continue;
          expect_right(recipe, request, near);
          ++proved;
        }
  EXPECT_GT(proved, 300);
}

TEST(Recipe, SegmentsLetAllLevelsWorkAtOnce) {
  const Neighbourhood near({in_blocks(16, 1), dealt_out(16, 4)});
  Recipe ring = plain(*algorithms::find(Collective::allreduce, "ring"));
  ring.by = by({Level::leaves});
  const auto rounds_of_leader = [&] { return build(ring, {Collective::allreduce, 16}, &near).rounds.size(); };
  const std::size_t whole = rounds_of_leader();
  ring.segments = 8;
  EXPECT_EQ(rounds_of_leader(), whole + 7);
}

/// Recursive halving and doubling has two rounds inside of each leaf switch, four between them, two inside.
/// While a segment is between switches, the next one is inside.
TEST(Recipe, SegmentsTwoRoundsApartLoadTwoKindsOfLinks) {
  const Neighbourhood near({in_blocks(16, 1), in_blocks(16, 4)});
  Recipe halving = plain(*algorithms::find(Collective::allreduce, "recursive_halving_doubling"));
  halving.segments = 2;
  halving.apart = 2;
  const auto all = built(halving, {Collective::allreduce, 16, 0, 0, true, {}}, near);
  std::vector<std::string> where(all[0].rounds.size());
  for (std::size_t round = 0, op = 0; op < all[0].ops.size(); ++op) {
    while (op >= all[0].rounds[round]) ++round;
    if (all[0].ops[op].code != ir::OpCode::send) continue;
    where[round] += near.distance(0, all[0].ops[op].peer) == 2 ? "b" : "i";
  }
  EXPECT_EQ(where, (std::vector<std::string>{"i", "i", "bi", "bi", "bb", "bb", "ib", "ib", "i", "i"}));
}

TEST(Recipe, KeepsTheOrderOfRanksOrDoesNotFit) {
  int proved = 0, refused = 0;
  for (const Collective collective : {Collective::reduce, Collective::allreduce})
    for (const Algorithm& row : algorithms::catalog())
      for (const Recipe& recipe : recipes_of(row))
        for (const Neighbourhood& near : neighbourhoods(12)) {
          const Request request{collective, 12, 0, 0, false, {}};
          if (row.collective != collective || row.order != algorithms::Order::ranked || !can_follow(recipe))
            continue;
          const Misfit found = misfit(recipe, request, &near);
          found == Misfit::order ? ++refused : found == Misfit::none ? ++proved : 0;
          if (found == Misfit::none) expect_right(recipe, request, near);
        }
  EXPECT_GT(proved, 10);
  EXPECT_GT(refused, 10);
}

/// Also in segments, and for operations that do not commute.
TEST(Recipe, MeansTheSameWithSeveralLeaders) {
  int proved = 0, in_order = 0;
  for (const Algorithm& row : algorithms::catalog())
    for (Recipe recipe : recipes_of(row))
      for (const std::uint32_t leaders : {2U, 3U, 9U})
        for (const Neighbourhood& near : neighbourhoods(8)) {
          recipe.leaders = leaders;
          recipe.segments = leaders == 3 ? 4 : 1;
          const bool commutes = row.order != algorithms::Order::ranked;
          const Request request{row.collective, 8, 0, ir::is_rooted(row.collective) ? 3 : 0, commutes, {}};
          if (!ir::is_vector(row.collective) || recipe.by.empty() || !can_follow(recipe) ||
              misfit(recipe, request, &near) != Misfit::none)
            continue;
          expect_right(recipe, request, near);
          ++(commutes ? proved : in_order);
        }
  EXPECT_GT(proved, 100);
  EXPECT_GT(in_order, 30);
}

/// The leader of a tree folds whole vectors, one after the other.
TEST(Recipe, SlicesShareTheWorkOfANode) {
  const Neighbourhood near({in_blocks(16, 8)});
  Recipe recipe = plain(*algorithms::find(Collective::allreduce, "in_network"));
  recipe.by = by({Level::nodes}, By::slices);
  recipe.segments = 4;
  const Request request{Collective::allreduce, 16, 0, 0, true, {}};
  const auto all = built(recipe, request, near);
  for (const Schedule& s : all) {
    ASSERT_EQ(s.chunks, 32U);
    // One slice of eight, of seven peers.
    EXPECT_EQ(ir::count(s).reduced, 7U * 4) << s.rank;
  }
  EXPECT_EQ(all[8].groups, (std::vector<std::vector<Rank>>{{0, 8}}));
  for (const ir::Op& op : all[8].ops)
    if (op.code == ir::OpCode::aggregate) EXPECT_EQ(op.target.count, 8U) << "a segment is in one place";
}

/// Groups of different sizes cut the vector alike.
TEST(Recipe, SlicesOfUnevenGroupsAreRunsOfChunks) {
  const Neighbourhood near({{0, 0, 0, 1, 1}});
  Recipe recipe = plain(*algorithms::find(Collective::reduce, "in_network"));
  recipe.by = by({Level::nodes}, By::slices);
  const auto all = built(recipe, {Collective::reduce, 5, 0, 4, true, {}}, near);
  EXPECT_EQ(all[0].chunks, 3U);
  EXPECT_EQ(ir::count(all[0]).reduced, 2U);
  EXPECT_EQ(ir::count(all[3]).reduced, 1U);
  EXPECT_EQ(ir::count(all[4]).reduced, 2U);
}

int crossings(const std::vector<Schedule>& schedules, const GroupNumbers& groups) {
  int found = 0;
  for (const Schedule& s : schedules)
    for (const ir::Op& op : s.ops)
      found += op.code == ir::OpCode::send &&
               groups[static_cast<std::size_t>(s.rank)] != groups[static_cast<std::size_t>(op.peer)];
  return found;
}

/// The five phases of a small allreduce on nodes of several sockets: inside a socket, between the sockets of
/// a node, between nodes, and back.
TEST(Recipe, FollowsSockets) {
  const Neighbourhood near({in_blocks(16, 8)}, in_blocks(16, 4));
  Recipe recipe = plain(*algorithms::find(Collective::allreduce, "recursive_doubling"));
  recipe.by = by({Level::sockets, Level::nodes});
  const Request request{Collective::allreduce, 16, 0, 0, false, {}};
  expect_right(recipe, request, near);
  const auto schedules = built(recipe, request, near);
  EXPECT_EQ(crossings(schedules, in_blocks(16, 8)), 2) << "one message each way between the nodes";
  EXPECT_EQ(crossings(schedules, in_blocks(16, 4)), 2 + 4) << "one up and down between each node's sockets";
  EXPECT_EQ(misfit(recipe, request, nullptr), Misfit::groups);
  EXPECT_THROW(Neighbourhood({in_blocks(8, 2)}, in_blocks(8, 4)), Error) << "a socket of two nodes";
}

By by_sockets_and_nodes(std::int16_t sockets, std::int16_t nodes) {
  By result;
  result.add(Level::sockets, sockets);
  result.add(Level::nodes, nodes);
  return result;
}

using Radixes = std::vector<std::int16_t>;

Radixes radixes(const Neighbourhood& near, const By& by) {
  const Grouping* grouping = near.grouped(by);
  return grouping ? grouping->radix : Radixes{};
}

/// Where a node is one socket, or nothing is known of sockets, both words ask for the same trees.
TEST(Neighbourhood, KeepsTheWidthOfALevelThatDropsOut) {
  const Neighbourhood one_socket({in_blocks(16, 4)}, in_blocks(16, 4)), not_known({in_blocks(16, 4)});
  for (const Neighbourhood* near : {&one_socket, &not_known}) {
    EXPECT_EQ(radixes(*near, by_sockets_and_nodes(By::preset, 8)), Radixes{8});
    EXPECT_EQ(radixes(*near, by_sockets_and_nodes(4, By::preset)), Radixes{4});
    EXPECT_EQ(radixes(*near, by_sockets_and_nodes(4, 8)), Radixes{4}) << "there are no trees of sockets";
    EXPECT_EQ(radixes(*near, by_sockets_and_nodes(By::preset, By::preset)), Radixes{By::preset});
  }
  EXPECT_EQ(not_known.grouped(by({Level::sockets})), nullptr);
  const Neighbourhood two_sockets({in_blocks(16, 4)}, in_blocks(16, 2));
  EXPECT_EQ(radixes(two_sockets, by_sockets_and_nodes(By::preset, 8)), (Radixes{By::preset, 8}));
  const Neighbourhood alone({in_blocks(16, 4)}, in_blocks(16, 1));
  EXPECT_EQ(radixes(alone, by_sockets_and_nodes(8, By::preset)), Radixes{By::preset}) << "no trees of ranks";
}

TEST(Neighbourhood, KeepsTheWidthOfLeavesOfOneNode) {
  const Neighbourhood near({in_blocks(16, 4), in_blocks(16, 4), in_blocks(16, 8)});
  By both = by({Level::nodes});
  both.add(Level::leaves, 8);
  EXPECT_EQ(radixes(near, both), Radixes{8});
  both.add(Level::switches, 3);
  EXPECT_EQ(radixes(near, both), (Radixes{8, 3}));
}

std::uint32_t chunks_folded(const Schedule& s) {
  std::uint32_t folded = 0;
  for (const ir::Op& op : s.ops)
    if (op.code == ir::OpCode::reduce) folded += op.target.count * (op.regions - 1);
  return folded;
}

/// DPML: as many leaders as a node has ranks fold, send and receive a part each, all at the same time.
TEST(Recipe, SeveralLeadersShareTheWork) {
  const Neighbourhood near({in_blocks(16, 4)});
  Recipe recipe = plain(*algorithms::find(Collective::allreduce, "recursive_doubling"));
  recipe.by = by({Level::nodes}, 4);
  const Request request{Collective::allreduce, 16};
  const std::size_t rounds_with_one = build(recipe, request, &near).rounds.size();
  recipe.leaders = 4;
  const auto schedules = built(recipe, request, near);
  for (const Schedule& s : schedules) {
    EXPECT_EQ(s.chunks, 4U);
    EXPECT_EQ(chunks_folded(s), 3U + 2U) << "of four: of the node's others, and of two other nodes";
    EXPECT_EQ(s.rounds.size(), rounds_with_one);
  }
}

std::uint32_t most_at_a_time(const Schedule& s) {
  std::uint32_t under_way = 0, most = 0, settled = 0, op = 0;
  for (const std::uint32_t end : s.rounds) {
    for (; op < end; ++op) {
      if (s.ops[op].code == ir::OpCode::aggregate) most = std::max(most, ++under_way);
      if (s.ops[op].code == ir::OpCode::settle) ++settled;
    }
    under_way -= std::exchange(settled, 0);
  }
  return most;
}

TEST(Recipe, KeepsTwoSegmentsInTheNetwork) {
  const Neighbourhood near({in_blocks(16, 4)});
  Recipe recipe = plain(*algorithms::find(Collective::allreduce, "in_network"));
  recipe.by = by({Level::nodes});
  const Request request{Collective::allreduce, 16};
  EXPECT_EQ(most_at_a_time(built(recipe, request, near)[4]), 1U);
  recipe.segments = 16;
  const auto schedules = built(recipe, request, near);
  EXPECT_EQ(most_at_a_time(schedules[4]), 2U);
  EXPECT_EQ(schedules[4].groups, (std::vector<std::vector<Rank>>{{0, 4, 8, 12}}));
  EXPECT_TRUE(schedules[5].groups.empty()) << "only leaders aggregate";
  EXPECT_EQ(crossings(schedules, in_blocks(16, 4)), 0) << "no message leaves a node";
}

TEST(Recipe, GivesEachPartsLeadersTheirGroup) {
  const Neighbourhood near({{0, 0, 1, 1, 2}});
  Recipe recipe = plain(*algorithms::find(Collective::allreduce, "in_network"));
  recipe.by = by({Level::nodes});
  recipe.leaders = 2;
  const auto schedules = built(recipe, {Collective::allreduce, 5}, near);
  EXPECT_EQ(schedules[0].groups, (std::vector<std::vector<Rank>>{{0, 2, 4}}));
  EXPECT_EQ(schedules[4].groups, (std::vector<std::vector<Rank>>{{0, 2, 4}, {1, 3, 4}}));
}

TEST(Recipe, NeedsGroupsThatJoinSomebody) {
  const Recipe ring = plain(*algorithms::find(Collective::allreduce, "ring"));
  Recipe by_nodes = ring, by_leaves = ring;
  by_nodes.by = by({Level::nodes});
  by_leaves.by = by({Level::leaves});
  const Request request{Collective::allreduce, 4};
  const Neighbourhood alone({in_blocks(4, 1)}), together({in_blocks(4, 4)}), pairs({in_blocks(4, 2)});
  EXPECT_EQ(misfit(by_nodes, request, nullptr), Misfit::groups);
  EXPECT_EQ(misfit(by_nodes, request, &alone), Misfit::groups);
  EXPECT_EQ(misfit(by_nodes, request, &together), Misfit::groups);
  EXPECT_EQ(misfit(by_nodes, request, &pairs), Misfit::none);
  EXPECT_EQ(misfit(by_leaves, request, &pairs), Misfit::groups);
  EXPECT_EQ(misfit(ring, request, nullptr), Misfit::none);
  EXPECT_THROW(build(by_nodes, request, &alone), Error);
}

TEST(Reordered, ARingCrossesEachBoundaryOnce) {
  const GroupNumbers leaves = dealt_out(16, 4);
  const Neighbourhood near({in_blocks(16, 1), leaves});
  Recipe ring = plain(*algorithms::find(Collective::allreduce, "ring"));
  const Request request{Collective::allreduce, 16};
  const int rounds = 2 * 15;
  EXPECT_EQ(crossings(built(ring, request, near), leaves), 16 * rounds);
  ring.reordered = true;
  EXPECT_EQ(crossings(built(ring, request, near), leaves), 4 * rounds);
}

TEST(Neighbourhood, PutsNearRanksBesideEachOther) {
  const Neighbourhood near({{0, 1, 0, 2, 1, 3}, {0, 1, 0, 0, 1, 1}});
  EXPECT_EQ(std::vector<Rank>(near.order().begin(), near.order().end()),
            (std::vector<Rank>{0, 2, 3, 1, 4, 5}));
  EXPECT_FALSE(near.is_in_order());
  EXPECT_TRUE(near.in_order().is_in_order());
  const Grouping* both = near.grouped(by({Level::nodes, Level::leaves}));
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->groups.levels(), 2U);
  EXPECT_EQ(near.grouped(by({Level::nodes, Level::leaves})), both);
  EXPECT_TRUE(near.in_order().grouped(by({Level::leaves}))->groups.are_runs());
}

}  // namespace
}  // namespace hocket::passes
