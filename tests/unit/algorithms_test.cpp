// The catalog as a table, and its claims: rounds and received chunks are counted in the built schedules. That
// the schedules do what they should is proved in tests/semantics.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "algorithms/catalog.hpp"
#include "algorithms/describe.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace {

using namespace hocket;
using algorithms::Algorithm;
using ir::OpCode;
using ir::Rank;
using ir::Request;

bool communicates(const ir::Op& op) {
  return op.code == OpCode::send || op.code == OpCode::recv || op.code == OpCode::read ||
         op.code == OpCode::wait || op.code == OpCode::signal;
}

std::uint32_t rounds_of(const ir::Schedule& s) {
  std::uint32_t rounds = 0, first = 0;
  for (const std::uint32_t end : s.rounds) {
    rounds += std::any_of(s.ops.begin() + first, s.ops.begin() + end, communicates);
    first = end;
  }
  return rounds;
}

std::uint32_t received_by(const ir::Schedule& s) {
  std::uint32_t chunks = 0;
  for (const ir::Op& op : s.ops)
    for (const ir::Region& region : s.regions_of(op))
      if (op.code == OpCode::recv || (op.code != OpCode::send && region.owner != ir::self))
        chunks += region.count;
  return chunks;
}

std::vector<ir::Parameters> settings(const Algorithm& row) {
  std::vector<ir::Parameters> all = {presets(row)};
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    for (const std::int32_t value : {row.parameters[i].least, 3, 5, row.parameters[i].most}) {
      all.push_back(presets(row));
      all.back()[i] = value;
    }
  return all;
}

template <class Visit>
void each_request(const Algorithm& row, Rank most, Visit visit) {
  for (const ir::Parameters& parameters : settings(row))
    for (Rank ranks = 1; ranks <= most; ++ranks)
      for (const Rank root : std::set<Rank>{0, ranks / 2, ranks - 1})
        for (const bool commutative : {true, false}) {
          const Request r{row.collective, ranks, 0, root, commutative, parameters};
          const bool meant =
              (root == 0 || ir::is_rooted(row.collective)) && algorithms::fits(row, r) &&
              (commutative || (ir::is_reduction(row.collective) && row.order == algorithms::Order::ranked));
          if (meant) visit(r);
        }
}

std::string name_of(const Request& r, const Algorithm& row) {
  std::ostringstream text;
  text << ir::name_of(row.collective) << " " << row.name << "(" << r.parameters[0] << ") rank " << r.rank
       << " of " << r.ranks << ", root " << r.root << (r.commutative ? "" : ", not commutative");
  return text.str();
}

TEST(Catalog, FindsEveryRowByName) {
  for (const Algorithm& row : algorithms::catalog())
    EXPECT_EQ(algorithms::find(row.collective, row.name), &row);
  EXPECT_EQ(algorithms::find(ir::Collective::barrier, "ring"), nullptr);
}

TEST(Catalog, EveryCollectiveHasAnAlgorithmForEveryCall) {
  for (std::size_t i = 0; i < ir::collective_count; ++i) {
    const auto collective = static_cast<ir::Collective>(i);
    bool general = false;
    for (const Algorithm& row : algorithms::catalog()) {
      const bool own_sizes_only = collective == ir::Collective::gather ||
                                  collective == ir::Collective::scatter ||
                                  collective == ir::Collective::alltoall;
      const bool order = !ir::is_reduction(collective) || row.order == algorithms::Order::ranked;
      const bool blocks =
          own_sizes_only ? row.blocks == algorithms::Blocks::any : row.blocks != algorithms::Blocks::equal;
      general |= row.collective == collective && !row.fits && order && blocks;
    }
    EXPECT_TRUE(general) << ir::name_of(collective);
  }
}

TEST(Catalog, RowsSayWhereTheyComeFromAndWhatTheyClaim) {
  for (const Algorithm& row : algorithms::catalog()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_NE(row.rounds, nullptr) << row.name;
    EXPECT_NE(row.received, nullptr) << row.name;
    EXPECT_LE(row.parameters.size(), ir::Parameters{}.size());
  }
}

TEST(Catalog, OneRankNeedsNobody) {
  for (const Algorithm& row : algorithms::catalog()) {
    const ir::Schedule s = build(row, Request{.collective = row.collective, .parameters = presets(row)});
    EXPECT_EQ(rounds_of(s), 0u) << row.name;
    EXPECT_EQ(s.staging.count, 0u) << row.name;
  }
}

TEST(Claims, HoldForEveryRankAndAreReachedByOne) {
  for (const Algorithm& row : algorithms::catalog()) {
    each_request(row, 19, [&](const Request& request) {
      if (request.ranks == 1) return;
      std::uint32_t most_rounds = 0, most_received = 0, claimed_rounds = 0, claimed_received = 0;
      for (Rank rank = 0; rank < request.ranks; ++rank) {
        const Request r = request.seen_by(rank);
        const ir::Schedule s = build(row, r);
        EXPECT_LE(rounds_of(s), row.rounds(r)) << name_of(r, row);
        EXPECT_LE(received_by(s), row.received(r)) << name_of(r, row);
        most_rounds = std::max(most_rounds, rounds_of(s));
        most_received = std::max(most_received, received_by(s));
        claimed_rounds = std::max(claimed_rounds, row.rounds(r));
        claimed_received = std::max(claimed_received, row.received(r));
      }
      EXPECT_EQ(most_rounds, claimed_rounds) << name_of(request, row);
      EXPECT_EQ(most_received, claimed_received) << name_of(request, row);
    });
  }
}

ir::Schedule without(ir::Schedule s, std::uint32_t op) {
  s.ops.erase(s.ops.begin() + op);
  std::vector<std::uint32_t> rounds;
  for (std::uint32_t end : s.rounds) {
    end -= end > op;
    if (end > (rounds.empty() ? 0 : rounds.back())) rounds.push_back(end);
  }
  s.rounds = rounds;
  return s;
}

// Also a test of the verifier: it must notice whatever is missing.
TEST(Schedules, HaveNoOpThatCouldBeLeftOut) {
  for (const Algorithm& row : algorithms::catalog()) {
    Request r{.collective = row.collective, .ranks = 7, .parameters = presets(row)};
    if (ir::is_rooted(row.collective)) r.root = 3;
    if (!algorithms::fits(row, r)) r.ranks = 8;
    std::vector<ir::Schedule> whole;
    for (Rank rank = 0; rank < r.ranks; ++rank) whole.push_back(build(row, r.seen_by(rank)));
    for (Rank rank = 0; rank < r.ranks; ++rank)
      for (std::uint32_t op = 0; op < whole[rank].ops.size(); ++op) {
        auto schedules = whole;
        schedules[rank] = without(whole[rank], op);
        EXPECT_FALSE(ir::verify(schedules, {.sizes = ir::Sizes::equal}))
            << name_of(r.seen_by(rank), row) << ": " << ir::to_text(whole[rank], whole[rank].ops[op]);
      }
  }
}

TEST(Describe, NamesEveryRow) {
  const std::string page = algorithms::markdown();
  for (const Algorithm& row : algorithms::catalog())
    EXPECT_NE(page.find("| `" + std::string(row.name) + "` | " + std::string(row.summary)), std::string::npos)
        << row.name;
}

}  // namespace
