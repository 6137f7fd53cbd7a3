// The catalog as a table. That its schedules are right and its claims hold is proved in tests/semantics.
#include <gtest/gtest.h>

#include <sstream>

#include "algorithms/catalog.hpp"
#include "algorithms/describe.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace {

using namespace hocket;
using algorithms::Algorithm;
using ir::Rank;
using ir::Request;

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
    for (const ir::Op& op : s.ops) EXPECT_EQ(op.code, ir::OpCode::copy) << row.name;
    EXPECT_EQ(s.staging.count, 0u) << row.name;
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
