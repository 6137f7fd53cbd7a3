// Every row of the catalog, run by the engine over shared memory, against a plain reference: random calls,
// printed seed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "algorithms/catalog.hpp"
#include "engine/report.hpp"
#include "harness/calls.hpp"
#include "harness/in_process.hpp"
#include "harness/seed.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;
using harness::functions_of;

struct Batch {
  std::string force;
  int ranks = 2;
  std::size_t most_elements = 3000;
  int calls = 40;
  std::size_t budget_bytes = std::size_t{1} << 30U;
  bool across_nodes = false;
};

/// The same random calls on all ranks; functions drawn from `functions`.
void run_batch(const Batch& batch, const std::vector<Function>& functions) {
  const std::uint64_t s = harness::test_seed();
  const int ranks_per_node = harness::some_ranks_per_node(batch.ranks);
  SCOPED_TRACE("TEST_SEED=" + std::to_string(s) + " force=" + batch.force +
               " ranks=" + std::to_string(batch.ranks) + " on nodes of " + std::to_string(ranks_per_node));
  harness::Ranks setting;
  setting.ranks = batch.ranks;
  setting.one_core = batch.ranks > 2;
  setting.options.force = batch.force;
  setting.options.cma = "on";  // else the rows that need it would not run
  setting.budget_bytes = batch.budget_bytes;
  if (batch.across_nodes) setting.network = {.seed = s, .delay = 0.3};
  setting.ranks_per_node = ranks_per_node;
  const auto body = [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    std::mt19937_64 random(s);
    for (int i = 0; i < batch.calls; ++i) {
      const Function function = functions[random() % functions.size()];
      const harness::CallPlan plan = harness::random_call(random, function, batch.ranks, batch.most_elements);
      harness::CallData data(plan, rank);
      const Outcome outcome = communicator.run(data.call());
      if (is_timed(outcome)) communicator.ended();
      const std::string where = "call " + std::to_string(i) + " " + std::string(engine::name_of(function)) +
                                " root " + std::to_string(plan.root) + " in_place " +
                                std::to_string(plan.in_place) + " count " + std::to_string(plan.counts[0]) +
                                ": ";
      if (outcome == Outcome::error) throw std::runtime_error(where + communicator.error());
      if (!is_done(outcome)) continue;
      if (const std::string wrong = data.check(); !wrong.empty()) throw std::runtime_error(where + wrong);
    }
  };
  EXPECT_NO_THROW(
      try { harness::run_ranks(setting, body); } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
        throw;
      });
}

class EveryRow : public testing::TestWithParam<const algorithms::Algorithm*> {};

TEST_P(EveryRow, AgreesWithTheReference) {
  const algorithms::Algorithm& row = *GetParam();
  const std::string force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
  for (const int ranks : {2, 3, 4, 5, 7, 8})
    run_batch({.force = force, .ranks = ranks}, functions_of(row.collective));
}

TEST_P(EveryRow, MovesLongMessagesInSegments) {
  const algorithms::Algorithm& row = *GetParam();
  const std::string force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
  run_batch({.force = force, .ranks = 3, .most_elements = 200'000, .calls = 8}, functions_of(row.collective));
}

/// On a node of its own each: only messages between them, which are late and come in another order.
TEST_P(EveryRow, AgreesWithTheReferenceAcrossNodes) {
  const algorithms::Algorithm& row = *GetParam();
  if (row.access != algorithms::Access::two_sided) return;
  const std::string force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
  for (const int ranks : {2, 3, 4, 5, 8})
    run_batch({.force = force, .ranks = ranks, .calls = 20, .across_nodes = true},
              functions_of(row.collective));
}

std::vector<const algorithms::Algorithm*> rows() {
  std::vector<const algorithms::Algorithm*> all;
  for (const algorithms::Algorithm& a : algorithms::catalog())
    if (a.access != algorithms::Access::in_network) all.push_back(&a);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryRow, testing::ValuesIn(rows()), [](const auto& info) {
  return std::string(ir::name_of(info.param->collective)) + "_" + std::string(info.param->name);
});

TEST(Engine, RunsAMixtureOfAllCollectives) {
  const std::vector<Function> all = harness::all_functions();
  for (const int ranks : {1, 2, 3, 4, 6, 8})
    if (ranks > 1) run_batch({.force = "", .ranks = ranks, .most_elements = 20'000, .calls = 300}, all);
}

/// Large broadcasts of one size: every path is tried, all ranks come to the same end, and the report says so.
TEST(Engine, TriesDataPathsAndAgreesOnOne) {
  constexpr int ranks = 4;
  std::vector<std::string> reports(ranks);
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.options.cma = "on";
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
    harness::CallPlan plan;
    plan.function = Function::bcast;
    plan.ranks = ranks;
    plan.counts = {20'000};
    for (int i = 0; i < 60; ++i) {
      plan.salt = static_cast<std::uint64_t>(i);
      harness::CallData data(plan, rank);
      const Outcome outcome = communicator.run(data.call());
      if (is_timed(outcome)) communicator.ended();
      if (is_done(outcome) && !data.check().empty()) throw std::runtime_error(data.check());
      if (outcome == Outcome::error) throw std::runtime_error(communicator.error());
    }
    for (const engine::ReportLine& row : engine.report().lines())
      reports[static_cast<std::size_t>(rank)] += row.algorithm + " " + std::to_string(row.calls) + "; ";
  });
  for (const std::string& report : reports) EXPECT_EQ(report, reports.front());
  EXPECT_NE(reports.front().find("native"), std::string::npos) << reports.front();
  EXPECT_NE(reports.front().find("exposed"), std::string::npos) << reports.front();
}

TEST(Engine, StaysRightWhenTheBudgetIsSpent) {
  const std::vector<Function> all = harness::all_functions();
  // room for the flag lines, not for staging or cells: large calls are left to the MPI, on all ranks alike
  run_batch({.force = "", .ranks = 4, .most_elements = 20'000, .calls = 200, .budget_bytes = 1 << 19}, all);
}

/// More ranks than a flag line has room for sizes.
TEST(Engine, RunsUnequalBlocksOfManyRanks) {
  run_batch({.force = "", .ranks = 31, .most_elements = 100, .calls = 9},
            {Function::gatherv, Function::scatterv, Function::alltoallv});
}

/// Calls of this rank, one after the other, until one fails.
std::string error_of(Rank rank, engine::Communicator& communicator,
                     const std::vector<harness::CallPlan>& plans) {
  for (const harness::CallPlan& plan : plans) {
    harness::CallData data(plan, rank);
    if (communicator.run(data.call()) == Outcome::error) return communicator.error();
  }
  return "";
}

harness::CallPlan plan_of(Function function, std::size_t count, Rank root = 0) {
  harness::CallPlan plan;
  plan.function = function;
  plan.ranks = 2;
  plan.counts = {count};
  plan.root = root;
  return plan;
}

std::vector<std::string> errors_across_nodes(const std::vector<harness::CallPlan>& first,
                                             const std::vector<harness::CallPlan>& second) {
  std::vector<std::string> errors(2);
  harness::Ranks setting;
  setting.ranks = 2;
  setting.options.force = "allreduce:ring,bcast:knomial,reduce:knomial";
  setting.network.emplace();
  std::atomic<int> ended{0};
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    errors[static_cast<std::size_t>(rank)] = error_of(rank, communicator, rank == 0 ? first : second);
    for (++ended; ended < 2;) std::this_thread::yield();
  });
  return errors;
}

TEST(Engine, NamesTheCallsThatDifferAcrossNodes) {
  const auto errors =
      errors_across_nodes({plan_of(Function::allreduce, 4)}, {plan_of(Function::allreduce, 5)});
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("call different collectives (call 1)"), std::string::npos) << error;
    EXPECT_NE(error.find("MPI_Allreduce(32 bytes"), std::string::npos) << error;
    EXPECT_NE(error.find("MPI_Allreduce(40 bytes"), std::string::npos) << error;
  }
}

/// Rank 1 only sends, and has gone on to a call in which it waits: it is told.
TEST(Engine, TellsRanksThatWaitForAFailedOneAcrossNodes) {
  const auto errors = errors_across_nodes({plan_of(Function::bcast, 4, 1)},
                                          {plan_of(Function::reduce, 4, 0), plan_of(Function::allreduce, 4)});
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("rank 0: MPI_Bcast(32 bytes, root 1)"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 1: MPI_Reduce(32 bytes, root 0"), std::string::npos) << error;
  }
}

TEST(Engine, FailsWhereMessagesCannotBeSent) {
  harness::Ranks setting;
  setting.ranks = 2;
  setting.options.force = "allreduce:ring";
  setting.network.emplace();
  setting.network->fail_after = 40;
  std::vector<std::string> errors(2);
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    const std::vector<harness::CallPlan> plans(100, plan_of(Function::allreduce, 4));
    errors[static_cast<std::size_t>(rank)] = rank == 0 ? error_of(rank, communicator, plans) : "";
    if (rank == 0) return;
    for (int i = 0; i < 100 && errors[1].empty(); ++i) errors[1] = error_of(rank, communicator, {plans[0]});
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("could not be sent or received"), std::string::npos) << error;
}

/// The ends of a block disagree about its size: an error on both, at any size, and no hang.
TEST(Engine, NoticesBlocksOfDifferentSizes) {
  for (const std::size_t sent : {std::size_t{0}, std::size_t{1}, std::size_t{30}, std::size_t{5000}}) {
    SCOPED_TRACE(sent);
    harness::Ranks setting;
    setting.ranks = 2;
    std::vector<Outcome> outcomes(2);
    std::string error;
    harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
      harness::CallPlan plan;
      plan.function = Function::gatherv;
      plan.ranks = 2;
      plan.counts = {3, rank == 0 ? 20'000 : sent};
      harness::CallData data(plan, rank);
      outcomes[static_cast<std::size_t>(rank)] = communicator.run(data.call());
      if (rank == 0) error = communicator.error();
      if (rank == 1) {  // has sent, and hears of it in its next call
        plan.function = Function::barrier;
        harness::CallData barrier(plan, rank);
        outcomes[1] = communicator.run(barrier.call());
      }
    });
    EXPECT_EQ(outcomes[0], Outcome::error);
    EXPECT_EQ(outcomes[1], Outcome::error);
    EXPECT_NE(error.find(" sends " + std::to_string(sent * 8) + " bytes to rank 0, which expects 160000"),
              std::string::npos)
        << error;
  }
}

}  // namespace
}  // namespace hocket
