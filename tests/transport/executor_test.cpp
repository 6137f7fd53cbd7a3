// Plans over a transport and a network with faults: what seems not to have come is waited for, and what fails
// ends the plan. Ranks are threads; every row of the catalog that sends and receives, and recipes that
// aggregate.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <latch>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "algorithms/catalog.hpp"
#include "engine/report.hpp"
#include "executors/binding.hpp"
#include "executors/machine.hpp"
#include "executors/plan.hpp"
#include "harness/calls.hpp"
#include "harness/memory.hpp"
#include "harness/reducing_network.hpp"
#include "harness/seed.hpp"
#include "ir/count.hpp"
#include "passes/recipe.hpp"
#include "transports/fake/faults.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/channel.hpp"
#include "tuning/parse_recipe.hpp"

namespace hocket::executors {
namespace {

using engine::Function;
using test::Memory;
using transports::Transfer;
using transports::fake::Faults;
using transports::fake::FaultyTwoSided;
namespace shm = transports::shm;

Function function_of(ir::Collective collective) {
  for (int f = 0; f <= static_cast<int>(Function::exscan); ++f)
    if (engine::name_of(static_cast<Function>(f)) == ir::name_of(collective)) return static_cast<Function>(f);
  return Function::other;
}

/// What the rows have to do with: the same call on all ranks, into buffers of its own.
harness::CallPlan some_call(std::mt19937_64& random, ir::Collective collective, Rank ranks) {
  const Function function =
      collective == ir::Collective::reduce_scatter ? Function::reduce_scatter_block : function_of(collective);
  harness::CallPlan call = harness::random_call(random, function, ranks, 3000);
  call.in_place = false;
  call.op = harness::Operator::sum;
  return call;
}

struct Job {
  passes::Recipe recipe;
  harness::CallPlan call;
  const passes::Neighbourhood* near = nullptr;
  harness::ReducingNetwork network{};
  Memory lines{shm::bytes_for(call.ranks)}, cells{shm::cells_bytes(call.ranks)};
  std::atomic<bool> has_failed = false;
  std::latch has_ended{call.ranks};

  Plan plan_of(Rank me) const {
    return {passes::build(recipe, {recipe.algorithm->collective, call.ranks, me, call.root, true, {}}, near),
            {}};
  }
};

struct RankFaults {
  Faults transport;
  harness::NetworkAggregator::Faults network;
};

/// Whoever leaves waits for all others: what it gave to the network may still be folded by another's thread.
class Leaving {
 public:
  explicit Leaving(Job& job) : job_(job) {}
  ~Leaving() { job_.has_ended.arrive_and_wait(); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  Job& job_;
};

/// How many messages a rank has begun to send beyond those that it has received, at most, in one round.
class AheadOf final : public transports::TwoSided {
 public:
  explicit AheadOf(transports::TwoSided& below) : below_(below) {}
  void take_in() noexcept override { below_.take_in(); }
  Status advance_send(Transfer& t) noexcept override {
    if (begun_.insert(t.peer).second) most_ = std::max(most_, std::ssize(begun_) - received_);
    return below_.advance_send(t);
  }
  Status advance_recv(Transfer& t) noexcept override {
    const Status status = below_.advance_recv(t);
    if (status == Status::ok) ++received_;
    return status;
  }
  transports::Blocker send_blocker(const Transfer& t) const noexcept override {
    return below_.send_blocker(t);
  }
  transports::Blocker recv_blocker(const Transfer& t) const noexcept override {
    return below_.recv_blocker(t);
  }
  std::ptrdiff_t most() const { return most_; }

 private:
  transports::TwoSided& below_;
  std::set<Rank> begun_;
  std::ptrdiff_t received_ = 0, most_ = 0;
};

struct Ended {
  std::vector<Status> statuses;
  std::vector<std::string> wrong;
  std::vector<std::ptrdiff_t> ahead;
};

/// One rank's part, until it ends or a peer has failed.
Status run(Job& job, Rank me, const Plan& plan, const RankFaults& faults, Ended& ended) {
  shm::Channel channel(job.lines.get(), job.call.ranks, me,
                       {transports::WaitMode::yield, nullptr, nullptr, nullptr, nullptr});
  shm::Cells below(job.cells.get(), job.call.ranks, me, channel.waiting());
  FaultyTwoSided faulty(below, faults.transport);
  AheadOf via(faulty);
  harness::NetworkAggregator aggregator(job.network, plan.schedule, faults.network);
  const harness::CallData data(job.call, me);
  Workspace workspace;
  workspace.fit(plan);
  Binding binding(plan, data.call());
  workspace.fit_scratch(binding.scratch_bytes(binding.extent()));
  const Leaving leaving(job);  // below all that others may read
  Status status = channel.begin(5);
  if (status != Status::ok) {
    job.has_failed = true;
    return status;
  }
  channel.announce();
  below.sign(channel.signature());
  binding.select({0, binding.extent()}, workspace.scratch());
  Machine machine(plan, binding, data.call(), {nullptr, &via, &aggregator}, workspace);
  status = Status::pending;
  while (status == Status::pending && !job.has_failed) {
    status = machine.advance();
    std::this_thread::yield();
  }
  if (status == Status::ok) ended.wrong[static_cast<std::size_t>(me)] = data.check();
  ended.ahead[static_cast<std::size_t>(me)] = via.most();
  if (status != Status::ok) job.has_failed = true;
  return status;
}

Ended run_all(Job& job, const std::vector<RankFaults>& faults) {
  const auto ranks = static_cast<std::size_t>(job.call.ranks);
  Ended ended{std::vector<Status>(ranks), std::vector<std::string>(ranks),
              std::vector<std::ptrdiff_t>(ranks)};
  std::vector<Plan> plans;  // by one thread: a neighbourhood keeps what it finds out
  for (Rank r = 0; r < job.call.ranks; ++r) plans.push_back(job.plan_of(r));
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ranks; ++r)
    threads.emplace_back(
        [&, r] { ended.statuses[r] = run(job, static_cast<Rank>(r), plans[r], faults[r], ended); });
  for (std::thread& t : threads) t.join();
  return ended;
}

std::vector<const algorithms::Algorithm*> rows_with_messages(Rank ranks) {
  std::vector<const algorithms::Algorithm*> rows;
  for (const algorithms::Algorithm& row : algorithms::catalog()) {
    const ir::Request request{row.collective, ranks, 0, 0, true, algorithms::presets(row)};
    if (!algorithms::fits(row, request)) continue;
    const ir::Schedule schedule = algorithms::build(row, request);
    if (schedule.staging.count == 0 && ir::count(schedule).messages > 0) rows.push_back(&row);
  }
  return rows;
}

TEST(Machine, WaitsForWhatSeemsNotToHaveCome) {
  std::mt19937_64 random(harness::test_seed());
  for (const Rank ranks : {2, 3, 5})
    for (const algorithms::Algorithm* row : rows_with_messages(ranks))
      for (const double pending : {0.0, 0.5, 0.9}) {
        Job job{passes::plain(*row), some_call(random, row->collective, ranks)};
        std::vector<RankFaults> faults;
        for (Rank r = 0; r < ranks; ++r) faults.push_back({{.seed = random(), .pending = pending}, {}});
        const Ended ended = run_all(job, faults);
        const auto size = static_cast<std::size_t>(ranks);
        ASSERT_EQ(ended.statuses, std::vector<Status>(size, Status::ok)) << row->name << " on " << ranks;
        ASSERT_EQ(ended.wrong, std::vector<std::string>(size)) << row->name << " on " << ranks;
      }
}

std::ptrdiff_t empty_for(const harness::CallPlan& call, Rank rank) {
  std::ptrdiff_t empty = 0;
  for (Rank from = 0; from < call.ranks; ++from) empty += from != rank && call.elements(from, rank) == 0;
  return empty;
}

/// So many at most are under way; those that are left out, since they are empty, count as received.
TEST(Machine, HoldsSendsBack) {
  std::mt19937_64 random(harness::test_seed());
  passes::Recipe recipe = passes::plain(*algorithms::find(ir::Collective::alltoall, "linear"));
  for (const Rank ranks : {3, 5, 8})
    for (const Rank window : {1, 2, 4})
      for (const Function function : {Function::alltoall, Function::alltoallv}) {
        recipe.parameters[0] = window;
        Job job{recipe, harness::random_call(random, function, ranks, 3000)};
        job.call.in_place = false;
        if (function == Function::alltoall) job.call.counts = {1000};
        std::vector<RankFaults> faults;
        for (Rank r = 0; r < ranks; ++r) faults.push_back({{.seed = random(), .pending = 0.5}, {}});
        const Ended ended = run_all(job, faults);
        const auto size = static_cast<std::size_t>(ranks);
        ASSERT_EQ(ended.statuses, std::vector<Status>(size, Status::ok)) << ranks << " with " << window;
        ASSERT_EQ(ended.wrong, std::vector<std::string>(size)) << ranks << " with " << window;
        for (Rank r = 0; r < ranks; ++r)
          EXPECT_LE(ended.ahead[static_cast<std::size_t>(r)], window + empty_for(job.call, r)) << ranks;
      }
}

TEST(Machine, EndsWithTheErrorOfItsTransport) {
  constexpr Rank ranks = 3;
  std::mt19937_64 random(harness::test_seed());
  for (const algorithms::Algorithm* row : rows_with_messages(ranks)) {
    if (row->collective != ir::Collective::allreduce && row->collective != ir::Collective::allgather)
      continue;
    Job job{passes::plain(*row), some_call(random, row->collective, ranks)};
    for (std::size_t& count : job.call.counts) count = 1000;  // nothing is sent of nothing
    const Ended ended = run_all(job, {{}, {{.fail_after = 1}, {}}, {}});
    EXPECT_EQ(ended.statuses[1], Status::peer_dead) << row->name;
  }
}

constexpr ir::Collective that_aggregate[] = {ir::Collective::barrier, ir::Collective::bcast,
                                             ir::Collective::reduce, ir::Collective::allreduce};

bool is_for(std::string_view recipe, ir::Collective collective) {
  const auto has = [&](std::string_view word) { return recipe.find(word) != recipe.npos; };
  if (has("slices")) return collective == ir::Collective::reduce || collective == ir::Collective::allreduce;
  return ir::is_vector(collective) || !(has("segments") || has("leaders"));
}

TEST(Machine, AggregatesBesideMessages) {
  const passes::Neighbourhood near({{0, 0, 1, 1, 2, 2}}, {0, 0, 1, 2, 3, 3});
  std::mt19937_64 random(harness::test_seed());
  for (const ir::Collective collective : that_aggregate)
    for (const char* text : {"in_network", "in_network by nodes", "in_network by sockets+nodes",
                             "in_network by nodes in 3 segments", "in_network by nodes with 2 leaders",
                             "in_network in 5 segments", "in_network by nodes in 4 segments with 2 leaders",
                             "in_network by nodes(slices)", "in_network by nodes(slices) in 3 segments",
                             "in_network by sockets(slices)+nodes(slices) in 2 segments"})
      for (const double pending : {0.0, 0.5}) {
        if (!is_for(text, collective)) continue;
        Job job{tuning::parse_recipe(collective, text), some_call(random, collective, 6), &near};
        if (pending == 0.0 && ir::is_vector(collective)) job.call.counts = {2};  // some segments are empty
        std::vector<RankFaults> faults;
        for (Rank r = 0; r < job.call.ranks; ++r)
          faults.push_back({{.seed = random(), .pending = pending}, {.seed = random(), .pending = pending}});
        const Ended ended = run_all(job, faults);
        ASSERT_EQ(ended.statuses, std::vector<Status>(6, Status::ok))
            << text << " of " << name_of(collective);
        ASSERT_EQ(ended.wrong, std::vector<std::string>(6)) << text << " of " << name_of(collective);
        ASSERT_TRUE(job.network.is_idle());
      }
}

TEST(Machine, EndsWithTheErrorOfItsAggregator) {
  const passes::Neighbourhood near({{0, 0, 1, 1}});
  std::mt19937_64 random(harness::test_seed());
  Job job{tuning::parse_recipe(ir::Collective::allreduce, "in_network by nodes in 3 segments"),
          some_call(random, ir::Collective::allreduce, 4), &near};
  job.call.counts = {1000};
  const Ended ended = run_all(job, {{}, {}, {{}, {.fail_after = 1}}, {}});
  EXPECT_EQ(ended.statuses[2], Status::peer_dead);
}

/// As in a worker, or where a rule names what the engine cannot do.
TEST(Machine, FailsWhereNobodyAggregates) {
  const Plan plan(algorithms::build(*algorithms::find(ir::Collective::barrier, "in_network"),
                                    {ir::Collective::barrier, 2}),
                  {});
  EXPECT_TRUE(plan.aggregates());
  EXPECT_FALSE(plan.one_sided());
  const Operation operation;
  Workspace workspace;
  workspace.fit(plan);
  const Binding binding(plan, operation);
  Machine machine(plan, binding, operation, {}, workspace);
  EXPECT_EQ(machine.advance(), Status::failed);
}

}  // namespace
}  // namespace hocket::executors
