// Single copy through the whole engine: the rows named `exposed` against the reference, and the agreement of
// the ranks on whether to use them; messages that are lent. Ranks are processes, each with its own memory,
// except where it says threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <numeric>
#include <random>
#include <thread>

#include "algorithms/catalog.hpp"
#include "engine/communicator.hpp"
#include "harness/arena_ranks.hpp"
#include "harness/calls.hpp"
#include "harness/forbid_call.hpp"
#include "harness/in_process.hpp"
#include "harness/rights.hpp"
#include "harness/seed.hpp"
#include "harness/started_calls.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;

constexpr const char* all_exposed =
    "bcast:exposed,gather:exposed,scatter:exposed,allgather:exposed,alltoall:exposed";
std::vector<Function> data_movers() {
  return {Function::bcast, Function::gather, Function::scatter, Function::allgather, Function::alltoall};
}

/// Their blocks have sizes of their own: they are messages between pairs of ranks, which lend.
std::vector<Function> v_forms() {
  return {Function::gatherv, Function::scatterv, Function::allgatherv, Function::alltoallv};
}

struct Setting {
  int ranks = 3;
  std::string cma = "on";
  std::string force = all_exposed;
  int calls = 120;
  std::size_t most_elements = 30'000;
  std::size_t least_elements = 0;  ///< of each block; 0: three of four calls are small
  std::vector<Function> functions = data_movers();
  std::function<void(Rank rank, int call)> before_call = [](Rank, int) {};
  bool started = false;  ///< non-blocking calls, many under way at a time, among few blocking ones
  /// Of those: until this call has ended no other is started. Those that are under way when the ranks agree
  /// are not read any more, however many they are.
  int last_alone = -1;
};

Options options(const Setting& setting) {
  Options options;
  options.cma = setting.cma;
  options.trials = false;  // the measurement alone decides
  options.force = setting.force;
  return options;
}

harness::CallPlan next_call(std::mt19937_64& random, const Setting& setting) {
  const Function function = setting.functions[random() % setting.functions.size()];
  harness::CallPlan plan = harness::random_call(random, function, setting.ranks, setting.most_elements);
  if (setting.least_elements != 0)
    for (auto& count : plan.counts)
      count = setting.least_elements + random() % (setting.most_elements - setting.least_elements + 1);
  return plan;
}

/// Empty, or what went wrong.
std::string run_calls(const Setting& setting, std::uint64_t from, Rank rank,
                      engine::Communicator& communicator) {
  std::mt19937_64 random(from);
  for (int i = 0; i < setting.calls; ++i) {
    const harness::CallPlan plan = next_call(random, setting);
    harness::CallData data(plan, rank);
    setting.before_call(rank, i);
    const Outcome outcome = communicator.run(data.call());
    if (outcome == Outcome::error) return communicator.error();
    const std::string wrong = outcome == Outcome::done ? data.check() : "";
    if (!wrong.empty())
      return "call " + std::to_string(i) + " " + std::string(engine::name_of(plan.function)) + ": " + wrong;
  }
  return {};
}

/// The same for non-blocking calls.
std::string run_started_calls(const Setting& setting, std::uint64_t from, Rank rank,
                              engine::Communicator& communicator) try {
  std::mt19937_64 random(from);
  harness::StartedCalls started(communicator, from + static_cast<std::uint64_t>(rank) + 1);
  for (int i = 0; i < setting.calls; ++i) {
    const harness::CallPlan plan = next_call(random, setting);
    setting.before_call(rank, i);
    started.start(plan, rank);
    started.advance_some();
    if (i <= setting.last_alone || random() % 10 == 0) started.finish();
  }
  started.finish();
  return {};
} catch (const std::exception& e) {
  return e.what();
}

std::uint64_t calls_exposed(engine::Engine& engine) {
  std::uint64_t calls = 0;
  for (const engine::ReportLine& row : engine.report().lines())
    calls += row.algorithm == "exposed" ? row.calls : 0;
  return calls;
}

std::string notes(engine::Engine& engine) {
  const auto& notes = engine.report().notes();
  return std::accumulate(notes.begin(), notes.end(), std::string());
}

using Body = std::function<std::string(Rank rank, engine::Communicator& communicator)>;

/// What each rank has to say, which ends when it has said it.
std::vector<std::string> in_forked(const Setting& setting, const Body& wrong_in_rank) {
  const std::string key = test::new_key();
  test::ForkedRanks ranks;
  ranks.start_all(setting.ranks, [&](int local) {
    engine::Engine engine(options(setting), {});
    auto arena = test::settings();
    arena.budget_bytes = std::size_t{64} << 20U;
    engine.adopt(test::come_up(key, local, setting.ranks, arena));
    std::vector<Rank> members;
    for (int r = 0; r < setting.ranks; ++r) members.push_back(10 * r + 1);
    std::string why_not;
    const auto communicator = engine::Communicator::open(engine, 1, members, local, why_not);
    if (!communicator) return "no communicator: " + why_not;
    const std::string wrong = wrong_in_rank(local, *communicator);
    return std::to_string(calls_exposed(engine)) + " exposed;" + wrong + ";" + notes(engine);
  });
  return ranks.wait();
}

std::vector<std::string> run_forked(const Setting& setting) {
  const std::uint64_t from = harness::test_seed();
  return in_forked(setting, [&](Rank rank, engine::Communicator& communicator) {
    return (setting.started ? run_started_calls : run_calls)(setting, from, rank, communicator);
  });
}

std::uint64_t exposed_in(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}
std::string wrong_in(const std::string& text) {
  const auto first = text.find(';');
  return first == text.npos ? text : text.substr(first + 1, text.find(';', first + 1) - first - 1);
}

void expect_right(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    EXPECT_NE(text.find(" exposed;"), text.npos) << text;
    EXPECT_EQ(wrong_in(text), "");
    EXPECT_EQ(exposed_in(text), exposed_in(texts.front())) << "the ranks did not agree";
  }
}

TEST(SingleCopy, ReadsOtherProcessesMemory) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const int ranks : {2, 3, 4, 5}) {
    const auto texts = run_forked({.ranks = ranks});
    expect_right(texts);
    EXPECT_GE(exposed_in(texts.front()), 120u - 24u);  // two stages before, each of up to twelve calls
  }
}

TEST(SingleCopy, ComesLaterInAMixtureWithOtherCalls) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  std::vector<Function> all;
  for (int f = 0; f <= static_cast<int>(Function::exscan); ++f) all.push_back(static_cast<Function>(f));
  const auto texts = run_forked({.ranks = 4, .calls = 300, .functions = all});
  expect_right(texts);
  EXPECT_GT(exposed_in(texts.front()), 30u);
}

TEST(SingleCopy, IsLeftAloneWhereOneRankMayNotRead) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 0 && !harness::forbid_cma()) _exit(77);
  };
  const auto texts = run_forked({.ranks = 3, .before_call = forbid});
  expect_right(texts);
  EXPECT_EQ(exposed_in(texts.front()), 0u);
  EXPECT_NE(texts.front().find(
                "rank 1 of a communicator cannot read rank 0: process_vm_readv: Operation not permitted"),
            std::string::npos)
      << texts.front();
}

TEST(SingleCopy, EndsWithAnErrorWhereItIsForbiddenOnTheWay) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 60 && !harness::forbid_cma()) _exit(77);
  };
  for (const std::string& text :
       run_forked({.ranks = 3, .functions = {Function::alltoall}, .before_call = forbid}))
    EXPECT_NE(wrong_in(text).find("cannot be read (process_vm_readv: Operation not permitted)"),
              std::string::npos)
        << text;
}

TEST(SingleCopy, NamesARankThatDies) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto die = [](Rank rank, int call) {
    if (rank == 1 && call == 60) _exit(0);
  };
  const auto texts = run_forked({.ranks = 3, .functions = {Function::alltoall}, .before_call = die});
  for (const int survivor : {0, 2})
    EXPECT_NE(wrong_in(texts[static_cast<std::size_t>(survivor)]).find("rank 1 (rank 11 of the job"),
              std::string::npos)
        << texts[static_cast<std::size_t>(survivor)];
}

TEST(StartedSingleCopy, ReadsOtherProcessesMemory) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const int ranks : {2, 3, 4, 5}) {
    const auto texts = run_forked({.ranks = ranks, .started = true});
    expect_right(texts);
    EXPECT_GE(exposed_in(texts.front()), 20u);  // three of four are small: they travel with their flags
  }
}

/// More segments than flag lines, in case the ranks do not read each other's memory.
TEST(StartedSingleCopy, ReadsLargeMessages) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto texts = run_forked({.ranks = 3,
                                 .calls = 12,
                                 .most_elements = 3'000'000,
                                 .least_elements = 100'000,
                                 .started = true,
                                 .last_alone = 1});
  expect_right(texts);
  EXPECT_GE(exposed_in(texts.front()), 10u);
}

TEST(StartedSingleCopy, NeedsNoGainWhereEachBlockHasOneReader) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto texts = run_forked({.ranks = 3,
                                 .cma = "auto",
                                 .force = "",
                                 .calls = 40,
                                 .most_elements = 60'000,
                                 .least_elements = 20'000,
                                 .functions = {Function::alltoall, Function::scatter},
                                 .started = true,
                                 .last_alone = 1});
  expect_right(texts);
  EXPECT_GE(exposed_in(texts.front()), 28u);
}

TEST(StartedSingleCopy, NeedsNoGainInABcastOfOnePieceToOneRank) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  Setting setting{.ranks = 2,
                  .cma = "auto",
                  .force = "",
                  .calls = 40,
                  .most_elements = 30'000,
                  .least_elements = 20'000,
                  .functions = {Function::bcast},
                  .started = true,
                  .last_alone = 1};
  const auto texts = run_forked(setting);
  expect_right(texts);
  EXPECT_GE(exposed_in(texts.front()), 28u);
}

TEST(StartedSingleCopy, RunsInAMixtureWithOtherCalls) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  std::vector<Function> all;
  for (int f = 0; f <= static_cast<int>(Function::exscan); ++f) all.push_back(static_cast<Function>(f));
  const auto texts = run_forked({.ranks = 4, .calls = 300, .functions = all, .started = true});
  expect_right(texts);
  EXPECT_GT(exposed_in(texts.front()), 10u);
}

TEST(StartedSingleCopy, IsLeftAloneWhereOneRankMayNotRead) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 0 && !harness::forbid_cma()) _exit(77);
  };
  const auto texts = run_forked({.ranks = 3, .before_call = forbid, .started = true});
  expect_right(texts);
  EXPECT_EQ(exposed_in(texts.front()), 0u);
  EXPECT_NE(texts.front().find("rank 1 of a communicator cannot read rank 0"), std::string::npos)
      << texts.front();
}

TEST(StartedSingleCopy, EndsWithAnErrorWhereItIsForbiddenOnTheWay) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto forbid = [](Rank rank, int call) {
    if (rank == 1 && call == 60 && !harness::forbid_cma()) _exit(77);
  };
  for (const std::string& text :
       run_forked({.ranks = 3, .functions = {Function::alltoall}, .before_call = forbid, .started = true}))
    EXPECT_NE(wrong_in(text).find("cannot be read (process_vm_readv: Operation not permitted)"),
              std::string::npos)
        << text;
}

harness::CallPlan plan_of(Function function, std::size_t count) {
  harness::CallPlan plan;
  plan.function = function;
  plan.ranks = 2;
  plan.counts = {count};
  return plan;
}

/// Goes on with all of them by turns until all have ended.
void finish(std::vector<std::unique_ptr<harness::StartedCall>> calls, engine::Communicator& communicator) {
  const std::uint64_t begun = monotonic_ns();
  while (!calls.empty()) {
    std::erase_if(calls, [&](const auto& call) { return call->advance(communicator); });
    std::this_thread::yield();
    if (monotonic_ns() - begun > 20'000'000'000) throw std::runtime_error(calls.front()->name + "never ends");
  }
}

/// Rank 0 arrives in the second large call first, before it can vote; then in the first one, where it votes.
TEST(StartedSingleCopy, IsAgreedOnWhenALaterCallIsArrivedInFirst) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  harness::Ranks setting;
  setting.ranks = 2;
  setting.options = options({});
  std::barrier together(2);
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    std::vector<std::unique_ptr<harness::StartedCall>> small, large;
    const auto start = [&](auto& calls, Function function, std::size_t count) {
      calls.push_back(std::make_unique<harness::StartedCall>(plan_of(function, count), rank, communicator));
    };
    // As many as there are flag lines: the next call has to wait for the first of them.
    for (std::uint32_t i = 0; i < transports::shm::ring; ++i) start(small, Function::allreduce, 1);
    if (rank == 0) start(large, Function::bcast, 100'000);
    together.arrive_and_wait();
    finish(std::move(small), communicator);
    together.arrive_and_wait();
    if (rank == 0) {
      start(large, Function::bcast, 100'000);
      large.back()->advance(communicator);
    }
    together.arrive_and_wait();
    for (int i = 0; i < 2 && rank == 1; ++i) {
      start(large, Function::bcast, 100'000);
      large.back()->advance(communicator);
    }
    together.arrive_and_wait();
    finish(std::move(large), communicator);
  });
}

// ---- loans
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

/// Every row that is made of messages: a sender of a loan goes on to the next round only when it has been
/// read, though the message might fit into the cells.
TEST(Loans, CarryTheMessagesOfEveryRow) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const algorithms::Algorithm& row : algorithms::catalog()) {
    if (row.access != algorithms::Access::two_sided) continue;
    const std::string force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
    for (const int ranks : {2, 3, 4, 5, 8})
      for (const bool started : {false, true}) {
        SCOPED_TRACE(force + " on " + std::to_string(ranks) + " ranks" + (started ? ", started" : ""));
        expect_right(run_forked({.ranks = ranks,
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
  const Setting setting{.ranks = 4, .force = "scatter:linear"};
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

TEST(SingleCopy, CanBeSwitchedOff) {
  const auto texts = run_forked({.ranks = 2, .cma = "off"});
  expect_right(texts);
  EXPECT_EQ(exposed_in(texts.front()), 0u);
}

TEST(SingleCopy, IsNotAskedForBySmallMessages) {
  const auto texts = run_forked({.ranks = 2, .cma = "auto", .most_elements = 4000});
  expect_right(texts);
  EXPECT_EQ(exposed_in(texts.front()), 0u);
  EXPECT_EQ(texts.front().substr(texts.front().rfind(';')), ";");  // nothing was measured
}

TEST(SingleCopy, IsDecidedByAMeasurementOtherwise) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const auto texts =
      run_forked({.ranks = 3, .cma = "auto", .force = "", .calls = 200, .most_elements = 60'000});
  expect_right(texts);
  const bool noted = texts.front().find("not faster") != std::string::npos;
  EXPECT_NE(noted, exposed_in(texts.front()) > 0) << texts.front();
}

TEST(SingleCopy, WorksAmongThreadsOfOneProcess) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const Setting setting{.ranks = 4};
  const std::uint64_t from = harness::test_seed();
  SCOPED_TRACE("HOCKET_TEST_SEED=" + std::to_string(from));
  harness::Ranks ranks;
  ranks.ranks = setting.ranks;
  ranks.one_core = true;
  ranks.options = options(setting);
  harness::run_ranks(ranks, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
    const std::string wrong = run_calls(setting, from, rank, communicator);
    if (!wrong.empty()) throw std::runtime_error(wrong);
    if (calls_exposed(engine) < 120 - 24) throw std::runtime_error("the row was not used");
  });
}

}  // namespace
}  // namespace hocket
