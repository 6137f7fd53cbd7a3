// Every row of the catalog, proved: symbolic execution of all ranks for many numbers of ranks, roots and
// parameters, in place and not, and the row's claims compared with what its schedules contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/catalog.hpp"
#include "ir/count.hpp"
#include "ir/verify.hpp"

namespace hocket::algorithms {
namespace {

using ir::Rank;
using ir::Schedule;

std::string text_of(const Algorithm& row, const Request& request) {
  std::string text = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name) + " ranks " +
                     std::to_string(request.ranks) + " root " + std::to_string(request.root) +
                     (request.commutative ? "" : " not commutative");
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    text += " " + std::string(row.parameters[i].name) + "=" + std::to_string(request.parameters[i]);
  return text;
}

std::set<Rank> roots(const Algorithm& row, Rank ranks) {
  if (!ir::is_rooted(row.collective)) return {0};
  std::set<Rank> some = {0, 1 % ranks, ranks / 2, ranks - 1};
  for (Rank r = 0; r < ranks && ranks <= 8; ++r) some.insert(r);
  return some;
}

/// Both ends, the preset, small ones, and those around the number of ranks.
std::set<std::int32_t> values(const Parameter& p, Rank ranks) {
  std::set<std::int32_t> some = {p.preset, p.least, p.most};
  for (const std::int32_t v :
       {p.least + 1, 3, 4, 5, p.least + (p.most - p.least) / 3, ranks - 1, ranks, ranks + 1})
    if (v >= p.least && v <= p.most) some.insert(v);
  return some;
}

/// The presets, and each parameter over its values while the others keep their presets.
std::set<ir::Parameters> parameters(const Algorithm& row, Rank ranks) {
  std::set<ir::Parameters> all{presets(row)};
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    for (const std::int32_t value : values(row.parameters[i], ranks)) {
      ir::Parameters some = presets(row);
      some[i] = value;
      all.insert(some);
    }
  return all;
}

template <class Visit>
void each_request(const Algorithm& row, Rank ranks, Visit visit) {
  for (const Rank root : roots(row, ranks))
    for (const ir::Parameters& some : parameters(row, ranks))
      for (const bool commutative : {true, false}) {
        if (!commutative && !(ir::is_reduction(row.collective) && row.order == Order::ranked)) continue;
        const Request request{row.collective, ranks, 0, root, commutative, some};
        if (fits(row, request)) visit(request);
      }
}

ir::Sizes sizes_of(const Algorithm& row) {
  switch (row.blocks) {
    case Blocks::any:
      return ir::Sizes::own;
    case Blocks::known:
      return ir::Sizes::known;
    case Blocks::equal:
      break;
  }
  return ir::Sizes::equal;
}

std::vector<Schedule> all_ranks(const Algorithm& row, const Request& request) {
  std::vector<Schedule> schedules;
  for (Rank r = 0; r < request.ranks; ++r) schedules.push_back(build(row, request.seen_by(r)));
  return schedules;
}

/// A claim holds for every rank, and is reached by the rank that has most to do.
void expect_claim(const char* what, Property claim, const Request& request,
                  const std::vector<std::uint64_t>& counted) {
  if (claim == nullptr) return;
  if (request.ranks == 1) {  // claims are about two ranks and more
    EXPECT_EQ(counted.front(), 0u) << what << " of a rank that is alone";
    return;
  }
  std::uint64_t most_claimed = 0;
  for (Rank r = 0; r < request.ranks; ++r) {
    const std::uint64_t claimed = claim(request.seen_by(r));
    most_claimed = std::max(most_claimed, claimed);
    EXPECT_LE(counted[r], claimed) << what << " of rank " << r;
  }
  EXPECT_EQ(*std::ranges::max_element(counted), most_claimed) << what << " in all";
}

class Catalog : public testing::TestWithParam<const Algorithm*> {
 protected:
  void prove(const Request& request) {
    const Algorithm& row = *GetParam();
    SCOPED_TRACE(text_of(row, request));
    const auto schedules = all_ranks(row, request);
    for (const bool in_place : {false, true}) {
      if (in_place && !row.in_place) continue;
      // A row that keeps the order of ranks may use that an operation commutes, where it does.
      const bool ranked = row.order == Order::ranked && !request.commutative;
      const ir::Verdict verdict =
          ir::verify(schedules, {.in_place = in_place, .ranked = ranked, .sizes = sizes_of(row)});
      EXPECT_TRUE(verdict.ok) << (in_place ? "in place: " : "") << verdict.what;
    }
    check_access(schedules);
    check_claims(request, schedules);
  }

  void check_access(const std::vector<Schedule>& schedules) {
    bool one_sided = false, two_sided = false, in_network = false;
    for (const Schedule& s : schedules)
      for (const ir::Op& op : s.ops) {
        one_sided |=
            op.code == ir::OpCode::signal || op.code == ir::OpCode::wait || op.code == ir::OpCode::read;
        two_sided |= op.code == ir::OpCode::send || op.code == ir::OpCode::recv;
        in_network |= op.code == ir::OpCode::aggregate || op.code == ir::OpCode::settle;
      }
    EXPECT_TRUE(!one_sided || GetParam()->access == Access::one_sided);
    EXPECT_TRUE(!two_sided || GetParam()->access == Access::two_sided);
    EXPECT_TRUE(!in_network || GetParam()->access == Access::in_network);
  }

  void check_claims(const Request& request, const std::vector<Schedule>& schedules) {
    std::vector<std::uint64_t> rounds, received;
    for (const Schedule& s : schedules) {
      const ir::Counters counters = ir::count(s);
      rounds.push_back(counters.rounds);
      received.push_back(counters.received);
    }
    expect_claim("rounds", GetParam()->rounds, request, rounds);
    expect_claim("chunks received", GetParam()->received, request, received);
  }

  void prove_all(Rank first, Rank last) {
    for (Rank ranks = first; ranks <= last && !HasFailure(); ++ranks)
      each_request(*GetParam(), ranks, [&](const Request& request) { prove(request); });
  }
};

TEST_P(Catalog, IsRightOnFewRanks) {
  prove_all(1, 16);
}
TEST_P(Catalog, IsRightOnMoreRanks) {
  prove_all(17, 33);
}
TEST_P(Catalog, IsRightOnPrimeManyRanks) {
  prove_all(37, 37);
}
TEST_P(Catalog, IsRightOnManyRanks) {
  prove_all(64, 64);
}

std::vector<const Algorithm*> rows() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& row : catalog()) all.push_back(&row);
  return all;
}

std::string test_name(const testing::TestParamInfo<const Algorithm*>& info) {
  return std::string(ir::name_of(info.param->collective)) + "_" + std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(Row, Catalog, testing::ValuesIn(rows()), test_name);

}  // namespace
}  // namespace hocket::algorithms
