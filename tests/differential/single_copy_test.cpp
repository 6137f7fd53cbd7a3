// Single copy through the whole engine: the rows named `exposed` against the reference, and the agreement of
// the ranks on whether to use them. Ranks are processes, each with its own memory, except where it says
// threads.
#include <gtest/gtest.h>

#include <barrier>
#include <random>
#include <thread>

#include "engine/communicator.hpp"
#include "harness/calls.hpp"
#include "harness/forbid_call.hpp"
#include "harness/in_process.hpp"
#include "harness/rights.hpp"
#include "harness/seed.hpp"
#include "harness/single_copy_ranks.hpp"
#include "harness/started_calls.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;

using harness::expect_right;
using harness::exposed_in;
using harness::in_forked;
using harness::run_forked;
using harness::wrong_in;
using Setting = harness::SingleCopySetting;

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
  setting.options = harness::options({});
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
  ranks.options = harness::options(setting);
  harness::run_ranks(ranks, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
    const std::string wrong = harness::run_calls(setting, from, rank, communicator);
    if (!wrong.empty()) throw std::runtime_error(wrong);
    if (harness::calls_exposed(engine) < 120 - 24) throw std::runtime_error("the row was not used");
  });
}

}  // namespace
}  // namespace hocket
