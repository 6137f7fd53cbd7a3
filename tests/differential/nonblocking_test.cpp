// Non-blocking operations of the engine, many under way at a time: every row of the catalog over a lane,
// advanced in random order with random delays, between blocking calls of the same communicator, against a
// plain reference. Ranks are threads; the seed is printed.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "algorithms/catalog.hpp"
#include "base/clock.hpp"
#include "harness/calls.hpp"
#include "harness/in_process.hpp"
#include "harness/seed.hpp"

namespace hocket {
namespace {

using engine::Form;
using engine::Function;
using engine::Outcome;
using engine::Outstanding;
using engine::Rank;

constexpr std::uint64_t too_long_ns = 60'000'000'000;

struct Batch {
  std::string force = "";
  int ranks = 2;
  std::size_t most_elements = 3000;
  int rounds = 6;
  std::size_t together = 20;  ///< operations under way at most
  bool stays_away = false;    ///< from the memory of its operations, as long as it likes: one rank does
};

/// An operation under way: its buffers, and what is left of it.
struct Running {
  harness::CallData data;
  engine::Prepared* prepared;
  Outstanding* operation;
  std::string name;

  Running(const harness::CallPlan& plan, Rank rank, engine::Communicator& communicator)
      : data(plan, rank), prepared(communicator.prepare(data.call(), Form::nonblocking)), operation(nullptr) {
    name = std::string(engine::name_of(plan.function)) + " root " + std::to_string(plan.root) + " in_place " +
           std::to_string(plan.in_place) + " count " + std::to_string(plan.counts[0]) + ": ";
    if (!prepared) throw std::runtime_error(name + communicator.error());
    if (prepared->is_native()) return;
    operation = communicator.start(*prepared, data.call());
    if (!operation) throw std::runtime_error(name + communicator.error());
    ++prepared->users;
  }

  /// True: it has ended, with the right result.
  bool advance(engine::Communicator& communicator) {
    const Status status = operation->advance();
    if (status == Status::pending) return false;
    if (status != Status::ok) {
      operation->fail(status);
      throw std::runtime_error(name + communicator.error());
    }
    if (const std::string wrong = data.check(); !wrong.empty()) throw std::runtime_error(name + wrong);
    operation->release();
    --prepared->users;
    return true;
  }
};

/// What one rank has under way. Which of it goes on is this rank's own dice.
class Window {
 public:
  Window(engine::Communicator& communicator, std::uint64_t seed) : communicator_(communicator), dice_(seed) {}

  void start(const harness::CallPlan& plan, Rank rank) {
    running_.push_back(std::make_unique<Running>(plan, rank, communicator_));
    if (!running_.back()->operation) running_.pop_back();
  }
  bool is_empty() const { return running_.empty(); }

  void advance_some() {
    for (std::uint64_t n = dice_() % 8; n > 0 && !is_empty(); --n) {
      const auto which = running_.begin() + static_cast<std::ptrdiff_t>(dice_() % running_.size());
      if ((*which)->advance(communicator_)) running_.erase(which);
    }
    if (dice_() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice_() % 300));
    if (dice_() % 4 == 0) std::this_thread::yield();
  }
  void finish() {
    const std::uint64_t begun = monotonic_ns();
    while (!is_empty()) {
      advance_some();
      if (monotonic_ns() - begun > too_long_ns)
        throw std::runtime_error(running_.front()->name + "never ends; " + std::to_string(running_.size()) +
                                 " are under way");
    }
  }

 private:
  engine::Communicator& communicator_;
  std::mt19937_64 dice_;
  std::deque<std::unique_ptr<Running>> running_;
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
  Window window(communicator, harness::test_seed() + static_cast<std::uint64_t>(rank) + 1);
  for (int round = 0; round < batch.rounds; ++round) {
    for (std::size_t n = 1 + random() % batch.together; n > 0; --n) {
      const Function function = functions[random() % functions.size()];
      const auto plan = harness::random_call(random, function, batch.ranks, batch.most_elements);
      if (random() % 8 == 0)  // overtakes those under way
        run_blocking(plan, rank, communicator);
      else
        window.start(plan, rank);
      if (!batch.stays_away || rank != round % batch.ranks) window.advance_some();
    }
    window.finish();
  }
}

void run_batch(const Batch& batch, const std::vector<Function>& functions) {
  SCOPED_TRACE("TEST_SEED=" + std::to_string(harness::test_seed()) + " force=" + batch.force +
               " ranks=" + std::to_string(batch.ranks));
  harness::Ranks setting;
  setting.ranks = batch.ranks;
  setting.one_core = batch.ranks > 2;
  setting.options.force = batch.force;
  try {
    harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
      one_rank(batch, functions, rank, communicator);
    });
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

class EveryRow : public testing::TestWithParam<const algorithms::Algorithm*> {
 protected:
  void run(Batch batch) const {
    const algorithms::Algorithm& row = *GetParam();
    batch.force = std::string(ir::name_of(row.collective)) + ":" + std::string(row.name);
    run_batch(batch, harness::functions_of(row.collective));
  }
};

TEST_P(EveryRow, AgreesWithTheReferenceAmongMany) {
  for (const int ranks : {2, 3, 4, 5, 8}) run({.ranks = ranks});
}

TEST_P(EveryRow, MovesLongMessagesInSegments) {
  run({.ranks = 3, .most_elements = 200'000, .rounds = 2, .together = 6});
}

std::vector<const algorithms::Algorithm*> rows() {
  std::vector<const algorithms::Algorithm*> all;
  for (const algorithms::Algorithm& a : algorithms::catalog())
    if (!a.single_copy) all.push_back(&a);
  return all;
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

// ---- calls that differ
std::vector<std::string> errors_of(const std::vector<harness::CallPlan>& first,
                                   const std::vector<harness::CallPlan>& second) {
  std::vector<std::string> errors(2);
  harness::Ranks setting;
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    Window window(communicator, 1);
    std::vector<harness::CallPlan> plans = rank == 0 ? first : second;
    try {
      for (const harness::CallPlan& plan : plans) window.start(plan, rank);
      window.finish();
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

TEST(Nonblocking, NamesTheCallsThatDiffer) {
  expect_both_named(errors_of({plan_of(Function::allreduce, 4)}, {plan_of(Function::allreduce, 5)}),
                    "MPI_Iallreduce(32 bytes", "MPI_Iallreduce(40 bytes");
  expect_both_named(errors_of({plan_of(Function::allreduce, 4)}, {plan_of(Function::alltoall, 4)}),
                    "MPI_Iallreduce(32 bytes", "MPI_Ialltoall(");
  expect_both_named(errors_of({plan_of(Function::allreduce, 100'000)}, {plan_of(Function::allgather, 4)}),
                    "MPI_Iallreduce(800000 bytes", "MPI_Iallgather(");
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
