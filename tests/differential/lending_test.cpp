// Messages that are lent: the receiver reads them where the sender has them. Random calls through the whole
// engine against the reference; ranks are processes, each with its own memory.
#include <gtest/gtest.h>

#include "algorithms/catalog.hpp"
#include "harness/calls.hpp"
#include "harness/forbid_call.hpp"
#include "harness/rights.hpp"
#include "harness/single_copy_ranks.hpp"
#include "harness/started_calls.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Rank;
using harness::expect_right;
using harness::in_forked;
using harness::run_forked;
using harness::wrong_in;

/// Their blocks have sizes of their own: they are messages between pairs of ranks, which lend.
std::vector<Function> v_forms() {
  return {Function::gatherv, Function::scatterv, Function::allgatherv, Function::alltoallv};
}

/// Calls in which each rank has much for each other one.
constexpr std::size_t most_lent = 60'000;

TEST(Loans, CarryBlocksWithSizesOfTheirOwn) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const int ranks : {2, 3, 4, 5})
    expect_right(
        run_forked({.ranks = ranks, .force = "", .most_elements = most_lent, .functions = v_forms()}));
}

TEST(StartedLoans, CarryBlocksWithSizesOfTheirOwn) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string cma : {"on", "auto"})
    for (const int ranks : {2, 3, 4, 5})
      expect_right(run_forked({.ranks = ranks,
                               .cma = cma,
                               .force = "",
                               .most_elements = most_lent,
                               .functions = v_forms(),
                               .started = true}));
}

class LoansAmong : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, LoansAmong, testing::Values(2, 3, 4, 5, 8),
                         testing::PrintToStringParamName());

/// Every row that is made of messages: a sender of a loan goes on to the next round only when it has been
/// read, though the message might fit into the cells.
TEST_P(LoansAmong, CarryTheMessagesOfEveryRow) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const algorithms::Algorithm& row : algorithms::catalog()) {
    if (row.access != algorithms::Access::two_sided) continue;
    const std::string force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
    for (const bool started : {false, true}) {
      SCOPED_TRACE(force + (started ? ", started" : ""));
      expect_right(run_forked({.ranks = GetParam(),
                               .force = force,
                               .calls = 20,
                               .functions = harness::functions_of(row.collective),
                               .started = started}));
    }
  }
}

/// Where that is a sender's receiver, its messages are copied; all others are lent.
void expect_copies_where_one_rank_may_not_read(const std::string& cma, bool started) {
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 0 && !harness::forbid_cma()) _exit(77);
  };
  expect_right(run_forked({.ranks = 3,
                           .cma = cma,
                           .force = "",
                           .most_elements = most_lent,
                           .functions = v_forms(),
                           .before_call = forbid,
                           .started = started}));
}

TEST(Loans, AreCopiesWhereOneRankMayNotRead) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  expect_copies_where_one_rank_may_not_read("on", false);
}

TEST(StartedLoans, AreCopiesWhereOneRankMayNotRead) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  for (const char* cma : {"on", "auto"}) expect_copies_where_one_rank_may_not_read(cma, true);
}

/// Which shows that the others were reads.
void expect_error_where_it_is_forbidden_on_the_way(const std::string& cma, bool started) {
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 60 && !harness::forbid_cma()) _exit(77);
  };
  for (const std::string& text : run_forked({.ranks = 3,
                                             .cma = cma,
                                             .force = "",
                                             .most_elements = most_lent,
                                             .functions = {Function::alltoallv},
                                             .before_call = forbid,
                                             .started = started}))
    EXPECT_NE(wrong_in(text).find("cannot be read (process_vm_readv: Operation not permitted)"),
              std::string::npos)
        << text;
}

TEST(Loans, EndWithAnErrorWhereTheyAreForbiddenOnTheWay) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  expect_error_where_it_is_forbidden_on_the_way("on", false);
}

TEST(StartedLoans, EndWithAnErrorWhereTheyAreForbiddenOnTheWay) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const char* cma : {"on", "auto"}) expect_error_where_it_is_forbidden_on_the_way(cma, true);
}

/// Rank 1 waits for rank 3 in its own scatter; its other one waits for nobody, until the first has ended.
TEST(StartedLoans, DoNotMissARankThatHasEndedWhereTheyWaitForNobody) {
  const harness::SingleCopySetting setting{.ranks = 4, .force = "scatter:linear"};
  constexpr std::size_t more_than_the_cells = 60'000;
  constexpr long until_rank_0_has_ended_ns = 400'000'000;
  expect_right(in_forked(setting, [&](Rank rank, engine::Communicator& communicator) -> std::string {
    if (rank == 3) sleep_ns(until_rank_0_has_ended_ns);
    try {
      harness::StartedCalls started(communicator, 1);
      for (const Rank root : {1, 2}) {
        harness::CallPlan plan;
        plan.function = Function::scatter;
        plan.ranks = setting.ranks;
        plan.root = root;
        plan.counts = {more_than_the_cells};
        started.start(plan, rank);
      }
      started.finish();
      return {};
    } catch (const std::exception& e) {
      return e.what();
    }
  }));
}

TEST(Loans, NameALenderThatDies) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto die = [](Rank rank, int call) {
    if (rank == 1 && call == 60) _exit(0);
  };
  const auto texts = run_forked({.ranks = 3,
                                 .force = "",
                                 .most_elements = most_lent,
                                 .functions = {Function::alltoallv},
                                 .before_call = die});
  for (const std::size_t survivor : {0, 2})
    EXPECT_NE(wrong_in(texts[survivor]).find("rank 1 (rank 11 of the job"), std::string::npos)
        << texts[survivor];
}

}  // namespace
}  // namespace hocket
