// Non-blocking operations of the engine, many under way at a time: every row of the catalog over a lane,
// or over messages that are late and come in another order, advanced in random order with random delays,
// between blocking calls of the same communicator, against a plain reference. Ranks are threads; the seed is
// printed.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/catalog.hpp"
#include "harness/calls.hpp"
#include "harness/in_process.hpp"
#include "harness/seed.hpp"
#include "harness/started_calls.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;
using harness::StartedCalls;
using transports::fake::WireSettings;

struct Batch {
  std::string force = "";
  int ranks = 2;
  std::size_t most_elements = 3000;
  int rounds = 6;
  std::size_t together = 20;  ///< operations under way at most
  bool stays_away = false;    ///< from the memory of its operations, as long as it likes: one rank does
  std::optional<WireSettings> network = {};  ///< between nodes
};

void run_blocking(const harness::CallPlan& plan, Rank rank, engine::Communicator& communicator) {
  harness::CallData data(plan, rank);
  const Outcome outcome = communicator.run(data.call());
  if (is_timed(outcome)) communicator.ended();
  if (outcome == Outcome::error) throw std::runtime_error(communicator.error());
  if (!is_done(outcome)) return;
  if (const std::string wrong = data.check(); !wrong.empty()) throw std::runtime_error("blocking: " + wrong);
}

void one_rank(const Batch& batch, const std::vector<Function>& functions, Rank rank,
              engine::Communicator& communicator) {
  std::mt19937_64 random(harness::test_seed());  // the same on all ranks
  StartedCalls started(communicator, harness::test_seed() + static_cast<std::uint64_t>(rank) + 1);
  for (int round = 0; round < batch.rounds; ++round) {
    for (std::size_t n = 1 + random() % batch.together; n > 0; --n) {
      const Function function = functions[random() % functions.size()];
      const auto plan = harness::random_call(random, function, batch.ranks, batch.most_elements);
      if (random() % 8 == 0)  // overtakes those under way
        run_blocking(plan, rank, communicator);
      else if (!started.start(plan, rank) && batch.network && plan.op != harness::Operator::compose)
        throw std::runtime_error("left to the MPI");  // as only what does not commute may be
      if (!batch.stays_away || rank != round % batch.ranks) started.advance_some();
    }
    started.finish();
  }
}

std::string text_of(const WireSettings& network) {
  return " delay=" + std::to_string(network.delay) + " buffered=" + std::to_string(network.buffered_bytes);
}

void run_batch(const Batch& batch, const std::vector<Function>& functions) {
  const int ranks_per_node = harness::some_ranks_per_node(batch.ranks);
  SCOPED_TRACE("TEST_SEED=" + std::to_string(harness::test_seed()) + " force=" + batch.force +
               " ranks=" + std::to_string(batch.ranks) + " on nodes of " + std::to_string(ranks_per_node) +
               (batch.network ? text_of(*batch.network) : ""));
  harness::Ranks setting;
  setting.ranks_per_node = ranks_per_node;
  setting.ranks = batch.ranks;
  setting.one_core = batch.ranks > 2;
  setting.options.force = batch.force;
  setting.network = batch.network;
  try {
    harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
      one_rank(batch, functions, rank, communicator);
    });
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

/// Messages between nodes are late, or mostly late, or stay with their sender until they are asked for.
std::vector<WireSettings> networks() {
  const std::uint64_t seed = harness::test_seed();
  return {{.seed = seed, .delay = 0.3},
          {.seed = seed, .delay = 0.6},
          {.seed = seed, .delay = 0.3, .buffered_bytes = 0}};
}

std::string name_of(const algorithms::Algorithm& row) {
  return std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
}

std::vector<const algorithms::Algorithm*> rows() {
  std::vector<const algorithms::Algorithm*> all;
  for (const algorithms::Algorithm& a : algorithms::catalog())
    if (!a.single_copy && a.access != algorithms::Access::in_network) all.push_back(&a);
  return all;
}

/// All that send and receive, to be forced: the rules may leave calls across nodes to the MPI. The first of a
/// collective that can do a call runs it.
std::string rows_across_nodes() {
  std::string all;
  for (const algorithms::Algorithm* row : rows())
    if (row->access == algorithms::Access::two_sided) all += "," + name_of(*row);
  return all.substr(1);
}

class EveryRow : public testing::TestWithParam<const algorithms::Algorithm*> {
 protected:
  void run(Batch batch) const {
    const algorithms::Algorithm& row = *GetParam();
    batch.force = name_of(row);
    if (batch.network) batch.force += "," + rows_across_nodes();
    run_batch(batch, harness::functions_of(row.collective));
  }
};

TEST_P(EveryRow, AgreesWithTheReferenceAmongMany) {
  for (const int ranks : {2, 3, 4, 5, 8}) run({.ranks = ranks});
}

TEST_P(EveryRow, MovesLongMessagesInSegments) {
  run({.ranks = 3, .most_elements = 200'000, .rounds = 2, .together = 6});
}

TEST_P(EveryRow, AgreesWithTheReferenceAmongManyAcrossNodes) {
  if (GetParam()->access != algorithms::Access::two_sided) return;
  for (const WireSettings& network : networks())
    for (const int ranks : {2, 3, 4, 5, 8}) run({.ranks = ranks, .rounds = 2, .network = network});
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryRow, testing::ValuesIn(rows()), [](const auto& info) {
  return std::string(ir::name_of(info.param->collective)) + "_" + std::string(info.param->name);
});

TEST(Nonblocking, RunsAMixtureOfAllCollectives) {
  for (const int ranks : {2, 3, 4, 6, 8})
    run_batch({.ranks = ranks, .most_elements = 20'000, .rounds = 20}, harness::all_functions());
}

/// More than the ring has lines.
TEST(Nonblocking, RunsHundredsAtATime) {
  run_batch({.ranks = 3, .most_elements = 300, .rounds = 6, .together = 300}, harness::all_functions());
}

/// More data than there are staging areas, and one rank that only starts them.
TEST(Nonblocking, WaitsForARankThatStaysAway) {
  run_batch({.ranks = 3, .most_elements = 60'000, .rounds = 12, .together = 30, .stays_away = true},
            harness::all_functions());
}

TEST(Nonblocking, StaysRightWhenNoMoreIsKnownThanFits) {
  run_batch({.ranks = 2, .most_elements = 5'000, .rounds = 40, .together = 60}, harness::all_functions());
}

TEST(NonblockingAcrossNodes, RunsAMixtureOfAllCollectives) {
  for (const WireSettings& network : networks())
    for (const int ranks : {2, 3, 5, 8})
      run_batch({.force = rows_across_nodes(), .ranks = ranks, .most_elements = 20'000, .network = network},
                harness::all_functions());
}

/// More messages than a rank has on their way to others at a time.
TEST(NonblockingAcrossNodes, RunsHundredsAtATime) {
  for (const WireSettings& network : networks())
    run_batch({.force = rows_across_nodes(),
               .ranks = 3,
               .most_elements = 300,
               .rounds = 4,
               .together = 300,
               .network = network},
              harness::all_functions());
}

TEST(NonblockingAcrossNodes, WaitsForARankThatStaysAway) {
  for (const WireSettings& network : networks())
    run_batch({.force = rows_across_nodes(),
               .ranks = 3,
               .most_elements = 60'000,
               .rounds = 3,
               .together = 30,
               .stays_away = true,
               .network = network},
              harness::all_functions());
}

// ---- calls that differ
std::vector<std::string> errors_of(const std::vector<harness::CallPlan>& first,
                                   const std::vector<harness::CallPlan>& second,
                                   const std::optional<WireSettings>& network = {}) {
  std::vector<std::string> errors(2);
  harness::Ranks setting;
  setting.network = network;
  if (network) setting.options.force = rows_across_nodes();
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    StartedCalls started(communicator, 1);
    std::vector<harness::CallPlan> plans = rank == 0 ? first : second;
    try {
      for (const harness::CallPlan& plan : plans) started.start(plan, rank);
      started.finish();
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(rank)] = e.what();
    }
  });
  return errors;
}

harness::CallPlan plan_of(Function function, std::size_t count, Rank root = 0) {
  harness::CallPlan plan;
  plan.function = function;
  plan.ranks = 2;
  plan.counts = {count};
  plan.root = root;
  return plan;
}

void expect_both_named(const std::vector<std::string>& errors, const std::string& one,
                       const std::string& other) {
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("call different collectives"), std::string::npos) << error;
    EXPECT_NE(error.find(one), std::string::npos) << error;
    EXPECT_NE(error.find(other), std::string::npos) << error;
  }
}

void expect_calls_that_differ_named(const std::optional<WireSettings>& network) {
  expect_both_named(errors_of({plan_of(Function::allreduce, 4)}, {plan_of(Function::allreduce, 5)}, network),
                    "MPI_Iallreduce(32 bytes", "MPI_Iallreduce(40 bytes");
  expect_both_named(errors_of({plan_of(Function::allreduce, 4)}, {plan_of(Function::alltoall, 4)}, network),
                    "MPI_Iallreduce(32 bytes", "MPI_Ialltoall(");
  expect_both_named(
      errors_of({plan_of(Function::allreduce, 100'000)}, {plan_of(Function::allgather, 4)}, network),
      "MPI_Iallreduce(800000 bytes", "MPI_Iallgather(");
}

TEST(Nonblocking, NamesTheCallsThatDiffer) {
  expect_calls_that_differ_named(std::nullopt);
}

TEST(NonblockingAcrossNodes, NamesTheCallsThatDiffer) {
  for (const WireSettings& network : networks()) expect_calls_that_differ_named(network);
}

/// Rank 0 only sends, and waits in a later call: it is told.
TEST(NonblockingAcrossNodes, TellsRanksThatWaitInALaterCall) {
  const auto later = plan_of(Function::allreduce, 4);
  for (const WireSettings& network : networks())
    for (const std::string& error :
         errors_of({plan_of(Function::bcast, 4), later}, {plan_of(Function::scatter, 4), later}, network))
      EXPECT_NE(error.find("call different collectives"), std::string::npos) << error;
}

/// One report of a stall for each of several that wait, however often they are looked after in turns.
TEST(NonblockingAcrossNodes, ReportsEachStallOnce) {
  std::atomic<int> reports{0};
  std::atomic<bool> has_looked{false};
  harness::Ranks setting;
  setting.network = WireSettings{};
  setting.options.force = rows_across_nodes();
  setting.options.stall_seconds = 0.5;
  setting.host.context = &reports;
  setting.host.say = [](void* context, const std::string& text) {
    if (text.find("has been waiting for rank 1") != std::string::npos)
      ++*static_cast<std::atomic<int>*>(context);
  };
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    if (rank == 1) has_looked.wait(false);
    std::vector<std::unique_ptr<harness::StartedCall>> calls;
    for (int n = 0; n < 3; ++n)
      calls.push_back(
          std::make_unique<harness::StartedCall>(plan_of(Function::allreduce, 4), rank, communicator));
    for (int turn = 0; rank == 0 && turn < 5; ++turn)
      for (const auto& call : calls) {
        EXPECT_FALSE(call->advance(communicator));
        call->look(communicator, 1'000'000'000);
      }
    has_looked = true;
    has_looked.notify_all();
    for (const auto& call : calls)
      while (!call->advance(communicator)) std::this_thread::yield();
  });
  EXPECT_EQ(reports, 3);
}

TEST(NonblockingAcrossNodes, FailsWhereMessagesCannotBeSent) {
  const std::vector<harness::CallPlan> plans(100, plan_of(Function::allreduce, 4));
  for (const std::string& error : errors_of(plans, plans, WireSettings{.fail_after = 40}))
    EXPECT_NE(error.find("could not be sent or received"), std::string::npos) << error;
}

TEST(Nonblocking, NamesTheOneOfManyThatDiffers) {
  std::vector<harness::CallPlan> ours(100, plan_of(Function::allreduce, 4)), theirs = ours;
  theirs[40] = plan_of(Function::alltoall, 4);
  for (const std::string& error : errors_of(ours, theirs)) {
    EXPECT_NE(error.find("(call 41)"), std::string::npos) << error;
    EXPECT_NE(error.find("MPI_Ialltoall("), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace hocket
