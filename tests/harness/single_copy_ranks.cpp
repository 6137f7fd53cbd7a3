#include "harness/single_copy_ranks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>

#include "harness/arena_ranks.hpp"
#include "harness/calls.hpp"
#include "harness/forked_ranks.hpp"
#include "harness/seed.hpp"
#include "harness/started_calls.hpp"

namespace hocket::harness {

using engine::Outcome;

std::vector<Function> data_movers() {
  return {Function::bcast, Function::gather, Function::scatter, Function::allgather, Function::alltoall};
}

namespace {

CallPlan next_call(std::mt19937_64& random, const SingleCopySetting& setting) {
  const Function function = setting.functions[random() % setting.functions.size()];
  CallPlan plan = random_call(random, function, setting.ranks, setting.most_elements);
  if (setting.least_elements != 0)
    for (auto& count : plan.counts)
      count = setting.least_elements + random() % (setting.most_elements - setting.least_elements + 1);
  return plan;
}

/// As run_calls() for non-blocking calls.
std::string run_started_calls(const SingleCopySetting& setting, std::uint64_t from, Rank rank,
                              engine::Communicator& communicator) try {
  std::mt19937_64 random(from);
  StartedCalls started(communicator, from + static_cast<std::uint64_t>(rank) + 1);
  for (int i = 0; i < setting.calls; ++i) {
    const CallPlan plan = next_call(random, setting);
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

std::string notes(engine::Engine& engine) {
  const auto& notes = engine.report().notes();
  return std::accumulate(notes.begin(), notes.end(), std::string());
}

}  // namespace

Options options(const SingleCopySetting& setting) {
  Options options;
  options.cma = setting.cma;
  options.trials = false;  // the measurement alone decides
  options.force = setting.force;
  return options;
}

std::string run_calls(const SingleCopySetting& setting, std::uint64_t from, Rank rank,
                      engine::Communicator& communicator) {
  std::mt19937_64 random(from);
  for (int i = 0; i < setting.calls; ++i) {
    const CallPlan plan = next_call(random, setting);
    CallData data(plan, rank);
    setting.before_call(rank, i);
    const Outcome outcome = communicator.run(data.call());
    if (outcome == Outcome::error) return communicator.error();
    const std::string wrong = outcome == Outcome::done ? data.check() : "";
    if (!wrong.empty())
      return "call " + std::to_string(i) + " " + std::string(engine::name_of(plan.function)) + ": " + wrong;
  }
  return {};
}

std::uint64_t calls_exposed(engine::Engine& engine) {
  std::uint64_t calls = 0;
  for (const engine::ReportLine& row : engine.report().lines())
    calls += row.algorithm == "exposed" ? row.calls : 0;
  return calls;
}

std::vector<std::string> in_forked(const SingleCopySetting& setting, const RankBody& wrong_in_rank) {
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

std::vector<std::string> run_forked(const SingleCopySetting& setting) {
  const std::uint64_t from = test_seed();
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

}  // namespace hocket::harness
