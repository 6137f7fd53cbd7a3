// Parsers on text that nobody meant. Whatever comes, they throw hocket::Error with a reason, or return
// something that holds together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "base/options.hpp"
#include "each_text.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "tuning/costs.hpp"
#include "tuning/functions.hpp"
#include "tuning/parse.hpp"
#include "tuning/rules.hpp"

namespace hocket {
namespace {

// schedules

const Words& schedule_words() {
  static const Words words = {"schedule", "ranks",     "rank",    "root",     "chunks", "staging", "scratch",
                              "planes",   "round",     "send",    "recv",     "copy",   "read",    "reduce",
                              "expose",   "signal",    "wait",    "everyone", "step",   "input",   "output",
                              "bcast",    "allreduce", "barrier", "alltoall", "after"};
  return words;
}

std::vector<ir::Schedule> schedules_of_some_row(DamagedText& choice) {
  const auto rows = algorithms::catalog();
  const algorithms::Algorithm& row = rows[choice.below(rows.size())];
  const auto ranks = static_cast<ir::Rank>(2 + choice.below(3));
  ir::Request request{row.collective, ranks, 0, 0, true, algorithms::presets(row)};
  std::vector<ir::Schedule> all;
  for (; request.rank < ranks && algorithms::fits(row, request); ++request.rank)
    all.push_back(algorithms::build(row, request));
  return all;
}

void expect_same_after_writing(const ir::Schedule& schedule) {
  const std::string written = ir::to_text(schedule);
  const auto again = parsed([&] { return ir::parse_schedule(written); });
  ASSERT_TRUE(again) << written;
  EXPECT_EQ(ir::to_text(*again), written);
}

TEST(ScheduleText, IsRefusedOrUnderstood) {
  each_text(schedule_words(), [](DamagedText& text) {
    std::vector<ir::Schedule> schedules = schedules_of_some_row(text);
    if (schedules.empty()) return;
    ir::Schedule& one = schedules[text.below(schedules.size())];
    const std::string damaged = text.damaged(ir::to_text(one));
    SCOPED_TRACE(damaged);
    const auto schedule = parsed([&] { return ir::parse_schedule(damaged); });
    if (!schedule) return;
    expect_same_after_writing(*schedule);
    one = *schedule;
    const ir::Verdict verdict = ir::verify(schedules);  // says what is wrong, or that it is right after all
    EXPECT_NE(verdict.ok, !verdict.what.empty()) << verdict.what;
  });
}

TEST(ScheduleText, NonsenseIsRefused) {
  each_text(schedule_words(), [](DamagedText& text) {
    const std::string nonsense = text.nonsense();
    if (const auto schedule = parsed([&] { return ir::parse_schedule(nonsense); }))
      expect_same_after_writing(*schedule);
  });
}

// rules

const Words& rule_words() {
  static const Words words = [] {
    Words all = {"bytes",   "ranks",        "oversubscribed", "commutative", "predefined", "unequal",
                 "unknown", "single_copy",  "native",         "radix",       "64K",        "17179869184G",
                 "by",      "nodes+leaves", "switches",       "reordered",   "in",         "segments",
                 "apart",   "cheapest("};
    for (const auto& function : tuning::function_names) all.push_back(function.name);
    for (const auto& row : algorithms::catalog()) all.push_back(row.name);
    return all;
  }();
  return words;
}

std::string some_good_rules(DamagedText& choice) {
  static const std::vector<std::string> all = [] {
    const tuning::Rules rules;
    const auto texts = rules.texts();
    return std::vector<std::string>(texts.begin(), texts.end());
  }();
  std::string text;
  for (std::size_t lines = 1 + choice.below(4); lines > 0; --lines)
    text += all[choice.below(all.size())] + "\n";
  return text + "bcast bytes>8K ranks>2 !oversubscribed -> knomial(radix=2)\n" +
         "allreduce -> cheapest(ring by nodes(radix=4)+leaves in 8 segments, ring reordered, native)\n";
}

TEST(RuleText, IsRefusedOrUnderstood) {
  each_text(rule_words(), [](DamagedText& text) {
    const std::string damaged = text.below(8) == 0 ? text.nonsense() : text.damaged(some_good_rules(text));
    SCOPED_TRACE(damaged);
    const auto rules = parsed([&] { return tuning::parse_rules(damaged, "test"); });
    if (!rules) return;
    for (const tuning::Rules::Rule& rule : *rules) {
      const auto again = parsed([&] { return tuning::parse_rules(rule.text, "test"); });
      ASSERT_TRUE(again && again->size() == 1) << rule.text;
      EXPECT_EQ(again->front().candidates, rule.candidates) << rule.text;
    }
  });
}

TEST(CostText, IsRefusedOrUnderstood) {
  const Words words = {"node", "leaf", "switches", "1e300", "-1", "inf", "nan", "0x10", "#"};
  each_text(words, [](DamagedText& text) {
    const std::string damaged = text.damaged("node 0.6 0.2 0.1\nleaf 2 0.5 86 # card\nswitches 3 0.5 86\n");
    SCOPED_TRACE(damaged);
    const auto costs = parsed([&] { return tuning::parse_costs(damaged, "test"); });
    if (costs) {
      EXPECT_GE(costs->levels.size(), 2U);
    }
  });
}

TEST(RuleText, ForcedAndDisabledListsAreRefusedOrUnderstood) {
  each_text(rule_words(), [](DamagedText& text) {
    const std::string force = text.damaged("allreduce:ring,bcast:knomial(radix=4), alltoallv:native");
    const std::string disable = text.damaged("allreduce,alltoallv, bcast");
    SCOPED_TRACE(force + " | " + disable);
    if (!parsed([&] { return tuning::Rules(disable, force, ""); })) return;
    const tuning::Rules rules(disable, force, "");
    for (const ir::Collective collective : {ir::Collective::allreduce, ir::Collective::bcast}) {
      tuning::Situation situation;
      situation.collective = collective;
      situation.ranks = 1 + static_cast<ir::Rank>(text.below(9));
      situation.bytes = std::size_t{1} << text.below(40);
      EXPECT_FALSE(rules.choose(situation).reason.empty());
    }
  });
}

// options

const Words& option_words() {
  static const Words words = {"on",  "off",  "auto",  "spin",           "64K",    "1.5M", "2GiB", "inf",
                              "nan", "0x10", "1e400", "allreduce:ring", "hocket", "=",    ";"};
  return words;
}

void clear_options() {
  for (const OptionInfo& option : option_table()) unsetenv(std::string(option.variable).c_str());
}

TEST(OptionText, IsRefusedOrUnderstood) {
  each_text(option_words(), [](DamagedText& text) {
    clear_options();
    for (std::size_t set = 1 + text.below(3); set > 0; --set) {
      const OptionInfo& option = option_table()[text.below(option_table().size())];
      std::string value = text.below(2) == 0 ? text.nonsense() : text.damaged(std::string(option.preset));
      value.erase(std::min(value.find('\0'), value.size()));
      setenv(std::string(option.variable).c_str(), value.c_str(), 1);
    }
    if (const auto options = parsed([] { return Options::from_environment(); })) {
      const std::string seen = options->fingerprint();  // what ranks compare: the same for the same options
      EXPECT_EQ(seen, parsed([] { return Options::from_environment(); })->fingerprint());
    }
  });
  clear_options();
}

TEST(OptionText, RulesThatAreNoFileAreRefused) {
  Options options;
  for (const char* path : {"/", "/dev/null", "/nonexistent/rules"}) {
    options.rules = path;
    EXPECT_FALSE(options.fingerprint().empty()) << path;
    parsed([&] { return tuning::Rules("", "", path); });
  }
}

}  // namespace
}  // namespace hocket
