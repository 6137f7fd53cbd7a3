// Collectives that follow nodes, by the engine as it is: two ranks on a node speak through its memory, and
// with others over a network that delays. Ranks are threads.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/calls.hpp"
#include "harness/in_process.hpp"
#include "harness/seed.hpp"
#include "harness/started_calls.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;

constexpr int ranks_per_node = 2;

engine::Told places_of(int ranks) {
  engine::Told told;
  for (int r = 0; r < ranks; ++r) told.names.push_back(1 + static_cast<std::uint64_t>(r / ranks_per_node));
  told.sockets.resize(told.names.size());
  told.internet.resize(told.names.size() * std::tuple_size_v<engine::InternetAddresses>);
  return told;
}

std::string by_nodes(const std::string& alltoallv) {
  return "alltoallv:" + alltoallv +
         " by nodes,alltoall:bruck by nodes,allreduce:ring by nodes,bcast:knomial by nodes,"
         "reduce:knomial by nodes,gather:linear by nodes,scatter:linear by nodes,allgather:ring by nodes,"
         "reduce_scatter:pairwise by nodes,barrier:message_dissemination by nodes";
}

void run(int ranks, const harness::Body& body, const std::string& alltoallv = "linear") {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed) + " ranks=" + std::to_string(ranks));
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.ranks_per_node = ranks_per_node;
  setting.one_core = true;
  setting.options.force = by_nodes(alltoallv);
  setting.network = {.seed = seed, .delay = 0.3};
  try {
    harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
      engine.set_places(places_of(ranks), rank, false);
      body(rank, communicator, engine);
    });
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

void run_random_calls(int ranks, std::size_t most_elements, const std::vector<Function>& functions,
                      const std::string& alltoallv = "linear") {
  const auto calls = [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    std::mt19937_64 random(harness::test_seed());
    for (int i = 0; i < 100; ++i) {
      const Function function = functions[random() % functions.size()];
      const auto plan = harness::random_call(random, function, ranks, most_elements);
      harness::CallData data(plan, rank);
      const Outcome outcome = communicator.run(data.call());
      if (is_timed(outcome)) communicator.ended();
      if (outcome == Outcome::error) throw std::runtime_error(communicator.error());
      if (!is_done(outcome)) {
        if (function == Function::alltoallv) throw std::runtime_error("left to the MPI");
        continue;
      }
      if (const std::string wrong = data.check(); !wrong.empty())
        throw std::runtime_error("call " + std::to_string(i) + ": " + wrong);
    }
  };
  run(ranks, calls, alltoallv);
}

/// Elements of a block of 8 KiB: in one call some pass through leaders, and some do not.
constexpr std::size_t some_large_blocks = 1024;

TEST(ByNodes, AnAlltoallvAgreesWithTheReference) {
  for (const std::string how : {"linear", "linear(window=1)"})
    for (const int ranks : {4, 7, 8}) run_random_calls(ranks, some_large_blocks, {Function::alltoallv}, how);
}

TEST(ByNodes, AMixtureOfAllCollectivesAgreesWithTheReference) {
  for (const int ranks : {4, 7}) run_random_calls(ranks, 3000, harness::all_functions());
}

TEST(ByNodes, ManyAtATimeAgreeWithTheReference) {
  for (const int ranks : {4, 7})
    run(ranks, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
      std::mt19937_64 random(harness::test_seed());
      harness::StartedCalls started(communicator, harness::test_seed() + static_cast<std::uint64_t>(rank));
      for (int round = 0; round < 10; ++round) {
        for (std::size_t n = 1 + random() % 10; n > 0; --n) {
          const auto functions = harness::all_functions();
          const Function function =
              random() % 2 == 0 ? Function::alltoallv : functions[random() % functions.size()];
          started.start(harness::random_call(random, function, ranks, some_large_blocks), rank);
          started.advance_some();
        }
        started.finish();
      }
    });
}

/// What rank `from` sends to rank `to` is not what that one expects, in bytes. All other blocks are empty.
struct Disagreement {
  Rank from, to;
  std::size_t sent, expected;
};

std::vector<std::string> errors_of(const Disagreement& about) {
  constexpr int ranks = 4;
  std::vector<std::string> errors(ranks);
  std::atomic<int> ended{0};
  run(ranks, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
    harness::CallPlan plan;
    plan.function = Function::alltoallv;
    plan.ranks = ranks;
    plan.counts.assign(ranks * ranks, 0);
    const std::size_t block =
        static_cast<std::size_t>(about.from) * ranks + static_cast<std::size_t>(about.to);
    plan.counts[block] = (rank == about.from ? about.sent : about.expected) / 8;
    harness::CallData data(plan, rank);
    if (communicator.run(data.call()) == Outcome::error)
      errors[static_cast<std::size_t>(rank)] = communicator.error();
    for (++ended; ended < ranks; std::this_thread::yield()) engine.network()->progress();
  });
  return errors;
}

/// On one node and between two, below and above the limit: the receiver's call fails, and says why.
TEST(ByNodes, AnAlltoallvWhoseEndsDisagreeFails) {
  for (const Disagreement& about :
       {Disagreement{1, 3, 2000, 504}, Disagreement{1, 3, 504, 2000}, Disagreement{1, 3, 800, 504},
        Disagreement{1, 3, 0, 504}, Disagreement{1, 0, 304, 504}, Disagreement{0, 1, 2000, 504},
        Disagreement{0, 1, 504, 2000}, Disagreement{1, 0, 16000, 504}, Disagreement{0, 2, 504, 2000},
        Disagreement{2, 1, 0, 8}, Disagreement{3, 1, 4000, 2000}}) {
    SCOPED_TRACE(std::to_string(about.from) + " to " + std::to_string(about.to) + ": " +
                 std::to_string(about.sent) + ", " + std::to_string(about.expected));
    const std::string error = errors_of(about)[static_cast<std::size_t>(about.to)];
    EXPECT_NE(error.find("disagree about the data of call 1"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace hocket
