// Once warm, no call allocates: every collective, in every way in which the engine runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/calls.hpp"
#include "harness/count_allocations.hpp"
#include "harness/in_process.hpp"
#include "harness/uncounted_port.hpp"

namespace hocket {
namespace {

using engine::Function;
using engine::Outcome;
using engine::Rank;

constexpr int ranks = 3;
constexpr int warm_calls = 60;      // single copy is agreed on, and the first series of a trial is over
constexpr int counted_calls = 350;  // the second one as well

harness::CallPlan plan_of(Function function, std::size_t elements, bool in_place) {
  std::mt19937_64 random(1);
  harness::CallPlan plan = harness::random_call(random, function, ranks, 1);
  for (std::size_t& count : plan.counts) count = elements;
  plan.root = 1;
  plan.in_place = in_place;
  return plan;
}

void run(engine::Communicator& communicator, const harness::CallData& data) {
  const Outcome outcome = communicator.run(data.call());
  if (is_timed(outcome)) communicator.ended();
  if (outcome == Outcome::error) throw std::runtime_error(communicator.error());
}

bool may_be_tried(std::size_t elements) {
  return elements >= 2048;
}

/// Algorithms that ran.
using Paths = std::map<std::string, std::uint64_t>;

Paths expect_no_allocations(const Options& options, const std::vector<Function>& functions,
                            const std::vector<std::size_t>& sizes) {
  Paths paths;
  std::mutex mutex;
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.one_core = true;
  setting.options = options;
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine& engine) {
    for (const Function function : functions)
      for (const std::size_t elements : sizes)
        for (const bool in_place : {false, true}) {
          const harness::CallData data(plan_of(function, elements, in_place), rank);
          for (int call = 0; call < warm_calls; ++call) run(communicator, data);
          const std::uint64_t before = harness::allocations();
          const int counted = may_be_tried(elements) ? counted_calls : counted_calls / 10;
          for (int call = 0; call < counted; ++call) run(communicator, data);
          const std::uint64_t made = harness::allocations() - before;
          const std::lock_guard lock(mutex);
          EXPECT_EQ(made, 0u) << engine::name_of(function) << " of " << elements << " elements, in place "
                              << in_place << ", rank " << rank;
        }
    const std::lock_guard lock(mutex);
    for (const engine::ReportLine& line : engine.report().lines()) paths[line.algorithm] += line.calls;
  });
  return paths;
}

const std::vector<Function> data_movers = {Function::bcast, Function::gather, Function::scatter,
                                           Function::allgather, Function::alltoall};

TEST(Allocation, is_counted) {
  const std::uint64_t before = harness::allocations();
  for (int* volatile made : {new int, static_cast<int*>(std::aligned_alloc(64, 64))}) std::free(made);
  EXPECT_EQ(harness::allocations() - before, 2u);
}

/// In a line, beside it, in one staging area, in several.
TEST(Allocation, none_in_any_collective_of_any_size) {
  const Paths paths = expect_no_allocations({}, harness::all_functions(), {1, 40, 1'000, 40'000});
  EXPECT_GT(paths.at("flat"), 0u);
  EXPECT_GT(paths.size(), 4u);
}

TEST(Allocation, none_with_single_copy) {
  Options options;
  options.cma = "on";
  options.force = "bcast:exposed,gather:exposed,scatter:exposed,allgather:exposed,alltoall:exposed";
  const Paths paths = expect_no_allocations(options, data_movers, {10'000, 40'000});
  EXPECT_GT(paths.at("exposed"), 0u);
}

TEST(Allocation, none_in_trials) {
  Options options;
  options.cma = "on";
  expect_no_allocations(options, data_movers, {10'000});
}

/// Cells, and rounds of messages.
TEST(Allocation, none_between_pairs_of_ranks) {
  Options options;
  options.force =
      "bcast:knomial,allreduce:recursive_doubling,allgather:ring,alltoall:pairwise,reduce:knomial";
  const Paths paths = expect_no_allocations(
      options,
      {Function::bcast, Function::allreduce, Function::allgather, Function::alltoall, Function::reduce},
      {1, 3'000});
  for (const char* path : {"knomial", "recursive_doubling", "ring", "pairwise"})
    EXPECT_GT(paths.at(path), 0u);
}

/// A start, and advancing until the end; many are under way at a time.
class Started {
 public:
  Started(engine::Communicator& communicator, const harness::CallData& data)
      : prepared_(communicator.prepare(data.call(), engine::Form::nonblocking)),
        operation_(prepared_ && !prepared_->is_native() ? communicator.start(*prepared_, data.call())
                                                        : nullptr) {
    if (!prepared_) throw std::runtime_error(communicator.error());
  }
  bool is_native() const { return !operation_; }
  bool advance() {
    const Status status = is_native() ? Status::ok : operation_->advance();
    if (status == Status::pending) return false;
    if (status != Status::ok) throw std::runtime_error("an operation failed");
    if (operation_) operation_->release();
    operation_ = nullptr;
    return true;
  }

 private:
  engine::Prepared* prepared_;
  engine::Outstanding* operation_;
};

/// Returns how many the engine ran.
std::size_t run_together(engine::Communicator& communicator, const std::vector<harness::CallData>& calls,
                         std::vector<Started>& started) {
  started.clear();
  for (const harness::CallData& data : calls) started.emplace_back(communicator, data);
  const std::size_t ours = static_cast<std::size_t>(
      std::count_if(started.begin(), started.end(), [](auto& s) { return !s.is_native(); }));
  for (std::size_t left = 1; left > 0;) {
    left = 0;
    for (Started& s : started) left += s.is_native() || s.advance() ? 0 : 1;
    std::this_thread::yield();
  }
  return ours;
}

/// By compiled plans and by interpreted ones, in one segment and in several.
TEST(Allocation, none_in_operations_under_way) {
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.one_core = true;
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    std::vector<harness::CallData> calls;
    for (const Function function : harness::all_functions())
      for (const std::size_t elements :
           {std::size_t{1}, std::size_t{40}, std::size_t{3'000}, std::size_t{40'000}})
        for (const bool in_place : {false, true})
          calls.emplace_back(plan_of(function, elements, in_place), rank);
    std::vector<Started> started;
    started.reserve(calls.size());
    for (int round = 0; round < 6; ++round) {
      const std::uint64_t before = harness::allocations();
      const std::size_t ours = run_together(communicator, calls, started);
      const std::uint64_t made = harness::allocations() - before;
      EXPECT_GT(ours, calls.size() / 2);
      if (round > 1) {
        EXPECT_EQ(made, 0u) << "round " << round << ", rank " << rank;
      }
    }
  });
}

// ---- across nodes
/// Of messages, which the engine's own memory is for; the network's is not counted.
harness::Ranks on_nodes_of_their_own() {
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.one_core = true;
  setting.options.force =
      "bcast:knomial,allreduce:ring,allgather:ring,alltoall:linear,reduce:knomial,gather:linear,scatter:"
      "linear,"
      "reduce_scatter:pairwise,scan:recursive_doubling,exscan:recursive_doubling,"
      "barrier:message_dissemination";
  setting.network.emplace();
  setting.port = [](harness::Port port) { return std::make_unique<harness::UncountedPort>(std::move(port)); };
  return setting;
}

/// Nobody runs ahead of the others: what arrives before it is asked for needs memory.
void in_step(engine::Communicator& communicator) {
  run(communicator, harness::CallData(plan_of(Function::barrier, 0, false), 0));
}

constexpr int warm_rounds = 150, counted_rounds = 50;

/// Allocations of the rounds after the warm ones.
template <class Body>
std::uint64_t allocations_once_warm(engine::Communicator& communicator, const Body& body) {
  std::uint64_t made = 0;
  for (int round = 0; round < warm_rounds + counted_rounds; ++round) {
    in_step(communicator);
    const std::uint64_t before = harness::allocations();
    body();
    if (round >= warm_rounds) made += harness::allocations() - before;
  }
  return made;
}

/// In an envelope's packet, and in messages of their own. All functions share the memory of messages: what
/// the first pass makes it grow to is enough for the second one.
TEST(Allocation, none_in_any_collective_across_nodes) {
  harness::run_ranks(on_nodes_of_their_own(), [](Rank rank, engine::Communicator& communicator, auto&) {
    for (const bool warm : {false, true})
      for (const Function function : harness::all_functions())
        for (const std::size_t elements : {1, 40, 3'000}) {
          const harness::CallData data(plan_of(function, elements, false), rank);
          const std::uint64_t made = allocations_once_warm(communicator, [&] { run(communicator, data); });
          EXPECT_EQ(warm ? made : 0, 0u)
              << engine::name_of(function) << " of " << elements << " elements, rank " << rank;
        }
  });
}

/// Of one kind: those that have ended are used again in the order in which they did.
TEST(Allocation, none_in_operations_under_way_across_nodes) {
  harness::run_ranks(on_nodes_of_their_own(), [](Rank rank, engine::Communicator& communicator, auto&) {
    constexpr std::size_t together = 3;
    std::vector<Started> started;
    started.reserve(together);
    for (const bool warm : {false, true})
      for (const std::size_t elements : {1, 40, 3'000}) {
        std::vector<harness::CallData> calls;
        for (std::size_t i = 0; i < together; ++i)
          calls.emplace_back(plan_of(Function::allreduce, elements, false), rank);
        const std::uint64_t made = allocations_once_warm(
            communicator, [&] { EXPECT_EQ(run_together(communicator, calls, started), together); });
        EXPECT_EQ(warm ? made : 0, 0u) << elements << " elements, rank " << rank;
      }
  });
}

/// As programs call them: in turn.
TEST(Allocation, none_in_a_mixture) {
  harness::Ranks setting;
  setting.ranks = ranks;
  setting.one_core = true;
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    std::vector<harness::CallData> calls;
    for (const Function function : harness::all_functions())
      for (const std::size_t elements : {std::size_t{1}, std::size_t{3'000}})
        calls.emplace_back(plan_of(function, elements, false), rank);
    std::vector<std::uint64_t> counts(60);
    for (std::uint64_t& made : counts) {
      const std::uint64_t before = harness::allocations();
      for (const harness::CallData& data : calls) run(communicator, data);
      made = harness::allocations() - before;
    }
    EXPECT_GT(counts.front(), 0u);
    for (std::size_t round = 40; round < counts.size(); ++round) EXPECT_EQ(counts[round], 0u) << round;
  });
}

}  // namespace
}  // namespace hocket
