// Collectives put together from parts inside groups and among leaders mean what the flat ones mean, wherever
// ranks and roots are, and cross the boundaries of groups no more often than they have to.
#include "passes/hierarchy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace hocket::passes {
namespace {

using algorithms::Algorithm;
using ir::Collective;
using ir::Request;
using ir::Schedule;
using Row = std::vector<std::uint32_t>;

constexpr Collective all_that_have_one[] = {
    Collective::barrier,   Collective::bcast,    Collective::reduce,
    Collective::allreduce, Collective::gather,   Collective::scatter,
    Collective::allgather, Collective::alltoall, Collective::reduce_scatter};

Schedule flat(const Request& request, std::string_view name) {
  const Algorithm* row = algorithms::find(request.collective, name);
  EXPECT_NE(row, nullptr) << name;
  Request with_presets = request;
  with_presets.parameters = algorithms::presets(*row);
  return algorithms::build(*row, with_presets);
}

Schedule inside(const Request& request, std::size_t) {
  return flat(request, "knomial");
}

/// No member forwards others' blocks: there are as many as ranks in all.
Schedule inside_of_alltoall(const Request& request, std::size_t) {
  return flat(request, "linear");
}

std::vector<Schedule> composed(Request request, const Groups& groups, std::string_view on_top) {
  const Parts parts{request.collective == Collective::alltoall ? inside_of_alltoall : inside,
                    [&](const Request& part) { return flat(part, on_top); }};
  std::vector<Schedule> all;
  for (Rank r = 0; r < request.ranks; ++r) all.push_back(hierarchy(request.seen_by(r), groups, parts));
  return all;
}

/// Rows that send and receive, or aggregate.
std::vector<const Algorithm*> rows_on_top(Collective collective) {
  std::vector<const Algorithm*> rows;
  for (const Algorithm& row : algorithms::catalog())
    if (row.collective == collective && row.access != algorithms::Access::one_sided) rows.push_back(&row);
  return rows;
}

std::size_t leaders_on_top(const Groups& groups) {
  return groups.members(groups.levels(), 0, -1).size();
}

bool fits(const Algorithm& row, const Groups& groups) {
  const Request part{row.collective,          static_cast<Rank>(leaders_on_top(groups)), 0, 0, true,
                     algorithms::presets(row)};
  if (row.blocks == algorithms::Blocks::equal && !groups.are_equal()) return false;
  return algorithms::fits(row, part);
}

// Where ranks are. Each function gives the number of a rank's node.

Row blocks(Rank ranks, Rank per_group) {
  Row row;
  for (Rank r = 0; r < ranks; ++r) row.push_back(static_cast<std::uint32_t>(r / per_group));
  return row;
}
Row cyclic(Rank ranks, Rank groups) {
  Row row;
  for (Rank r = 0; r < ranks; ++r) row.push_back(static_cast<std::uint32_t>(r % groups));
  return row;
}
Row random_groups(Rank ranks, std::uint32_t groups, std::mt19937& random) {
  Row row;
  for (Rank r = 0; r < ranks; ++r) row.push_back(static_cast<std::uint32_t>(random() % groups));
  return row;
}
/// Two groups each become one.
Row pairs_of(const Row& inner) {
  Row row = inner;
  for (auto& group : row) group /= 2;
  return row;
}

std::vector<Groups> placements(Rank ranks) {
  std::vector<Groups> all;
  all.emplace_back(std::vector<Row>{blocks(ranks, 1)});
  all.emplace_back(std::vector<Row>{blocks(ranks, ranks)});
  all.emplace_back(std::vector<Row>{blocks(ranks, 2)});
  all.emplace_back(std::vector<Row>{cyclic(ranks, 3)});
  all.emplace_back(std::vector<Row>{blocks(ranks, 2), blocks(ranks, 4)});
  all.emplace_back(std::vector<Row>{cyclic(ranks, 4), pairs_of(cyclic(ranks, 4))});
  std::mt19937 random(static_cast<unsigned>(ranks));
  for (int i = 0; i < 3; ++i) {
    const Row nodes = random_groups(ranks, 5, random);
    all.emplace_back(std::vector<Row>{nodes, pairs_of(nodes), pairs_of(pairs_of(nodes))});
  }
  return all;
}

void expect_right(const Request& request, const Groups& groups, const Algorithm& row) {
  const auto schedules = composed(request, groups, row.name);
  for (const bool in_place : std::set<bool>{false, row.in_place}) {
    const bool has_equal_blocks = request.collective == Collective::alltoall;  // which lie in others' planes
    const ir::Expectation expectation{in_place, !request.commutative,
                                      has_equal_blocks ? ir::Sizes::equal : ir::Sizes::known};
    const ir::Verdict verdict = ir::verify(schedules, expectation);
    ASSERT_TRUE(verdict) << name_of(request.collective) << ":" << row.name << " on top, " << request.ranks
                         << " ranks, root " << request.root << ", in place " << in_place << ": "
                         << verdict.what << "\n"
                         << ir::to_text(schedules[0]);
  }
}

TEST(Hierarchy, MeansWhatTheFlatCollectiveMeans) {
  int proved = 0;
  for (const Collective collective : all_that_have_one)
    for (const Rank ranks : {1, 2, 3, 4, 5, 8, 13, 16})
      for (const Groups& groups : placements(ranks))
        for (const Algorithm* row : rows_on_top(collective))
          for (Rank root = 0; root < (ir::is_rooted(collective) ? ranks : 1); ++root)
            if (fits(*row, groups)) {
              expect_right({collective, ranks, 0, root, true, {}}, groups, *row);
              ++proved;
            }
  EXPECT_GT(proved, 3000);
}

TEST(Hierarchy, KeepsTheOrderOfRanksWhereGroupsAreRuns) {
  for (const Collective collective : {Collective::reduce, Collective::allreduce})
    for (const Rank ranks : {4, 7, 12})
      for (const Groups& groups : placements(ranks))
        for (const Algorithm* row : rows_on_top(collective)) {
          if (row->order != algorithms::Order::ranked || !fits(*row, groups)) continue;
          for (Rank root = 0; root < (ir::is_rooted(collective) ? ranks : 1); ++root) {
            const Request request{collective, ranks, 0, root, false, {}};
            if (groups.are_runs())
              expect_right(request, groups, *row);
            else
              EXPECT_THROW(composed(request, groups, row->name), Error);
          }
        }
}

/// Chunks that are sent over the boundary of each group of a level.
struct Crossing {
  std::map<std::uint32_t, std::uint64_t> out, in;
};

Crossing crossing(const std::vector<Schedule>& schedules, const Row& group_of) {
  Crossing all;
  for (const Schedule& s : schedules)
    for (const ir::Op& op : s.ops) {
      const std::uint32_t from = group_of[static_cast<std::size_t>(s.rank)];
      if (op.code != ir::OpCode::send || from == group_of[static_cast<std::size_t>(op.peer)]) continue;
      std::uint64_t chunks = 0;
      for (const ir::Region& region : s.regions_of(op)) chunks += region.count;
      all.out[from] += chunks;
      all.in[group_of[static_cast<std::size_t>(op.peer)]] += chunks;
    }
  return all;
}

TEST(Hierarchy, OfRootedCollectivesCrossesABoundaryOnce) {
  const Rank ranks = 16;
  const Row nodes = cyclic(ranks, 8), leaves = cyclic(ranks, 4);
  const Groups groups({nodes, leaves});
  for (const Rank root : {0, 5, 15}) {
    const auto schedules_of = [&](Collective collective) {
      return composed({collective, ranks, 0, root, true, {}}, groups, "knomial");
    };
    const std::uint32_t home = leaves[static_cast<std::size_t>(root)];
    const Crossing gathered = crossing(schedules_of(Collective::gather), leaves);
    const Crossing scattered = crossing(schedules_of(Collective::scatter), leaves);
    EXPECT_EQ(gathered.in.at(home), 12u) << "all blocks that are elsewhere";
    EXPECT_EQ(scattered.out.at(home), 12u);
    const Crossing told = crossing(schedules_of(Collective::bcast), leaves);
    const Crossing reduced = crossing(schedules_of(Collective::reduce), leaves);
    for (std::uint32_t leaf = 0; leaf < 4; ++leaf) {
      if (leaf == home) continue;
      EXPECT_EQ(told.in.at(leaf), 1u);
      EXPECT_EQ(reduced.out.at(leaf), 1u) << "partial results of a group leave it as one";
    }
  }
}

/// Chassis in racks in rows, with leaders on each level.
TEST(Hierarchy, OfThreeLevelsOfSwitchesBringsEachBlockHomeOnce) {
  const Rank ranks = 16;
  const std::vector<Row> levels = {cyclic(ranks, 8), cyclic(ranks, 4), cyclic(ranks, 2)};
  for (const Rank root : {0, 5, 15}) {
    const auto schedules_of = [&](Collective collective) {
      return composed({collective, ranks, 0, root, true, {}}, Groups(levels), "linear");
    };
    const auto gather = schedules_of(Collective::gather), scatter = schedules_of(Collective::scatter);
    std::uint64_t members = 1;
    for (const Row& level : levels) {
      members *= 2;
      const std::uint32_t home = level[static_cast<std::size_t>(root)];
      Crossing gathered = crossing(gather, level), scattered = crossing(scatter, level);
      EXPECT_EQ(gathered.out[home] + scattered.in[home], 0u) << "the root leads all its groups";
      EXPECT_EQ(gathered.in[home], ranks - members);
      EXPECT_EQ(scattered.out[home], ranks - members);
      for (std::uint32_t group = 0; group < ranks / members; ++group) {
        if (group == home) continue;
        EXPECT_EQ(gathered.out[group], members + gathered.in[group]) << "its own, and what it forwards";
        EXPECT_EQ(scattered.in[group], members + scattered.out[group]);
      }
    }
  }
}

TEST(Hierarchy, OfARingOnTopMovesWhatTheRingMovesOverEachBoundary) {
  const Rank ranks = 16;
  const Row leaves = cyclic(ranks, 4);
  const auto flat_ring = [&] {
    std::vector<Schedule> all;
    for (Rank r = 0; r < ranks; ++r)
      all.push_back(flat({Collective::allreduce, ranks, r, 0, true, {}}, "ring"));
    return all;
  }();
  const auto by_leaf = composed({Collective::allreduce, ranks, 0, 0, true, {}}, Groups({leaves}), "ring");
  // In chunks of a sixteenth each rank of the flat ring sends 30 over its leaf's uplink; the leaders send 6
  // quarters.
  EXPECT_EQ(crossing(flat_ring, leaves).out.at(1), 4u * 30u);
  EXPECT_EQ(by_leaf[0].chunks, 4u);
  EXPECT_EQ(crossing(by_leaf, leaves).out.at(1), 6u);
}

TEST(Hierarchy, IsWrittenAsItRuns) {
  const auto schedules =
      composed({Collective::allreduce, 4, 0, 0, true, {}}, Groups({blocks(4, 2)}), "recursive_doubling");
  EXPECT_EQ(ir::to_text(schedules[2]),
            "schedule allreduce ranks 4 rank 2 root 0 chunks 1\n"
            "scratch planes 2\n"
            "round 0: recv 3: scratch[1..2)\n"
            "round 1: reduce output[0..1) = input[0..1) + scratch[1..2)\n"
            "round 2: send 0: output[0..1)\n"
            "round 2: recv 0: scratch[0..1)\n"
            "round 3: reduce output[0..1) = scratch[0..1) + output[0..1)\n"
            "round 4: send 3: output[0..1)\n");
}

TEST(Hierarchy, RefusesWhatItCannotPutTogether) {
  const Groups groups({blocks(4, 2)});
  const auto on_top = [](const Request& r) { return inside(r, 0); };
  const Parts parts{inside, on_top};
  EXPECT_FALSE(has_hierarchy(Collective::scan) || has_hierarchy(Collective::exscan));
  EXPECT_THROW(hierarchy({Collective::scan, 4, 0, 0, true, {}}, groups, parts), Error);
  EXPECT_THROW(hierarchy({Collective::bcast, 5, 0, 0, true, {}}, groups, parts), Error);
  const Parts forwarding{inside, [](const Request& r) { return flat(r, "bruck"); }};
  const Groups of_two_sizes({Row{0, 0, 1, 1, 1}});
  EXPECT_THROW(hierarchy({Collective::alltoall, 5, 0, 0, true, {}}, of_two_sizes, forwarding), Error);
  const Parts staged{[](const Request& r, std::size_t) { return flat(r, "flat"); }, on_top};
  EXPECT_THROW(hierarchy({Collective::bcast, 4, 0, 0, true, {}}, groups, staged), Error);
}

TEST(Groups, AreNested) {
  EXPECT_THROW(Groups(std::vector<Row>{}), Error);
  EXPECT_THROW(Groups(std::vector<Row>{Row{}}), Error);
  EXPECT_THROW(Groups({Row{0, 0, 1}, Row{0, 1, 1}}), Error);
  EXPECT_THROW(Groups({Row{0, 0, 1}, Row{0, 0}}), Error);
  const Groups groups({Row{7, 3, 7, 3, 9}, Row{1, 1, 1, 1, 2}});
  EXPECT_FALSE(groups.are_runs());
  EXPECT_EQ(groups.members(0, 3, -1), (std::vector<Rank>{1, 3}));
  EXPECT_EQ(groups.members(1, 3, -1), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(groups.members(2, 3, -1), (std::vector<Rank>{0, 4}));
  EXPECT_EQ(groups.members(1, 3, 3), (std::vector<Rank>{0, 3})) << "the root leads";
  EXPECT_EQ(groups.members(2, 0, 3), (std::vector<Rank>{3, 4}));
}

TEST(Groups, AreLedInTurns) {
  const Groups groups({Row{0, 0, 1, 1, 1, 2}, Row{0, 0, 0, 0, 0, 1}});
  EXPECT_EQ(groups.members(1, 0, -1, 1), (std::vector<Rank>{1, 3}));
  EXPECT_EQ(groups.members(1, 0, -1, 2), (std::vector<Rank>{0, 4}));
  EXPECT_EQ(groups.members(2, 0, -1, 1), (std::vector<Rank>{3, 5})) << "a leader of leaders";
  EXPECT_EQ(groups.members(2, 0, 0, 1), (std::vector<Rank>{0, 5})) << "the root leads at all times";
}

}  // namespace
}  // namespace hocket::passes
