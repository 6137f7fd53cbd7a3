#include "tuning/parse.hpp"

#include <algorithm>
#include <limits>

#include "tuning/parse_recipe.hpp"
#include "tuning/words.hpp"

namespace hocket::tuning {
namespace {

using Rule = Rules::Rule;

FunctionName function(std::string_view name) {
  if (const auto found = function_named(name)) return *found;
  throw Error("unknown collective " + quoted(name) + "; there are " +
              listed(function_names, [](const FunctionName& f) { return f.name; }));
}

std::size_t scaled_number(std::string_view text) {
  constexpr std::string_view suffixes = "KMG";
  const auto suffix = text.empty() ? suffixes.npos : suffixes.find(text.back());
  if (suffix == suffixes.npos) return number<std::size_t>(text);
  const auto value = number<std::size_t>(text.substr(0, text.size() - 1));
  const std::size_t shift = 10 * (suffix + 1);
  if (value > std::numeric_limits<std::size_t>::max() >> shift) throw Error(quoted(text) + " is too large");
  return value << shift;
}

void limit(Interval& interval, std::string_view comparison) {
  const bool less = comparison.front() == '<';
  const bool or_equal = comparison.size() > 1 && comparison[1] == '=';
  const std::size_t bound = scaled_number(comparison.substr(or_equal ? 2 : 1));
  if (less && !or_equal && bound == 0) throw Error("nothing is less than 0");
  if (less)
    interval.most = std::min(interval.most, bound - !or_equal);
  else
    interval.least = std::max(interval.least, bound + !or_equal);
}

struct FlagWord {
  std::string_view name;
  std::optional<bool> Conditions::* member;
};

constexpr std::array<FlagWord, 17> flag_words = {{{"oversubscribed", &Conditions::oversubscribed},
                                                  {"commutative", &Conditions::commutative},
                                                  {"predefined", &Conditions::predefined},
                                                  {"unequal", &Conditions::unequal},
                                                  {"unknown", &Conditions::unknown},
                                                  {"single_copy", &Conditions::single_copy},
                                                  {"across_nodes", &Conditions::across_nodes},
                                                  {"switches", &Conditions::switches},
                                                  {"costs", &Conditions::costs},
                                                  {"interleaved", &Conditions::interleaved},
                                                  {"blocking", &Conditions::blocking},
                                                  {"background", &Conditions::background},
                                                  {"worker", &Conditions::worker},
                                                  {"mapped", &Conditions::mapped},
                                                  {"whole_node", &Conditions::whole_node},
                                                  {"in_network", &Conditions::in_network},
                                                  {"streams", &Conditions::streams}}};

struct NumberWord {
  std::string_view name;
  Interval Conditions::* member;
};

constexpr std::array<NumberWord, 3> number_words = {
    {{"bytes", &Conditions::bytes}, {"ranks", &Conditions::ranks}, {"nodes", &Conditions::nodes}}};

bool add_comparison(Conditions& conditions, std::string_view word) {
  const auto name_end = std::min(word.find_first_of("<>"), word.size());
  const auto found = std::ranges::find(number_words, word.substr(0, name_end), &NumberWord::name);
  if (name_end == word.size() || found == number_words.end()) return false;
  limit(conditions.*found->member, word.substr(name_end));
  return true;
}

void add_condition(Conditions& conditions, std::string_view word) {
  if (add_comparison(conditions, word)) return;
  const bool wanted = word.front() != '!';
  const std::string_view name = wanted ? word : word.substr(1);
  for (const FlagWord& flag : flag_words)
    if (flag.name == name) {
      conditions.*flag.member = wanted;
      return;
    }
  throw Error(
      "unknown condition " + quoted(word) + "; there are " +
      listed(number_words, [](const NumberWord& one) { return one.name; }) + " with <, <=, > or >=, and " +
      listed(flag_words, [](const FlagWord& flag) { return flag.name; }) + ", each also with ! before it");
}

Conditions parse_conditions(std::string_view words) {
  Conditions conditions;
  const FunctionName shape = function(trimmed(next_part(words, blanks)));
  conditions.collective = shape.collective;
  conditions.form = shape.form;
  while (!words.empty()) {
    const std::string_view word = next_part(words, blanks);
    if (!word.empty()) add_condition(conditions, word);
  }
  return conditions;
}

Rule::Candidate candidate(ir::Collective collective, std::string_view text) {
  const passes::Recipe recipe = parse_recipe(collective, text);
  return {recipe, name_of(recipe, text), std::string(text)};
}

/// `recipe`, or `cheapest(recipe, recipe, ...)`.
void decide(Rule& rule, std::string_view text) {
  constexpr std::string_view several = "cheapest(";
  if (!text.starts_with(several)) {
    rule.candidates.push_back(candidate(rule.conditions.collective, text));
    return;
  }
  if (text.back() != ')') throw Error("')' is missing at the end of " + quoted(text));
  for (const std::string_view each : entries(text.substr(several.size(), text.size() - several.size() - 1)))
    rule.candidates.push_back(candidate(rule.conditions.collective, each));
  if (rule.candidates.empty()) throw Error("cheapest() names no algorithm");
}

Rule parse_rule(std::string_view line) {
  const auto arrow = line.find("->");
  if (arrow == line.npos) throw Error("'->' is missing");
  Rule rule;
  rule.conditions = parse_conditions(trimmed(line.substr(0, arrow)));
  decide(rule, trimmed(line.substr(arrow + 2)));
  rule.text = line;
  return rule;
}

Rule parse_force(std::string_view entry) {
  const auto colon = entry.find(':');
  if (colon == entry.npos) throw Error(quoted(entry) + " is not of the form collective:algorithm");
  Rule rule;
  const FunctionName shape = function(trimmed(entry.substr(0, colon)));
  rule.conditions.collective = shape.collective;
  rule.conditions.form = shape.form;
  const std::string_view decision = trimmed(entry.substr(colon + 1));
  decide(rule, decision);
  rule.text = "forced " + std::string(decision);
  const std::string complaint = rule.text + " does not fit: ";
  rule.does_not_fit = {"",
                       complaint + "needs a commutative operation",
                       complaint + "needs known sizes",
                       complaint + "needs equal blocks",
                       complaint + "not for this number of ranks",
                       complaint + "reads other ranks' memory, and they are on several nodes",
                       complaint + "needs switches that reduce",
                       complaint + "the ranks do not read each other's memory",
                       complaint + "the ranks are not in such groups",
                       complaint + "the groups of ranks are not of one size",
                       complaint + "the operation does not commute, and near ranks are not consecutive",
                       complaint + "too many ranks to place the segments of all on one clock"};
  return rule;
}

/// Runs `parse` and puts the origin before its complaints.
template <class Parse>
auto located(const std::string& origin, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error(origin + ": " + error.what());
  }
}

}  // namespace

std::vector<Rule> parse_rules(std::string_view text, std::string_view origin) {
  std::vector<Rule> rules;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view whole = next_part(text, "\n");
    const std::string_view line = trimmed(next_part(whole, "#"));
    if (line.empty()) continue;
    const std::string place = std::string(origin) + " line " + std::to_string(number);
    rules.push_back(located(place, [&] { return parse_rule(line); }));
  }
  return rules;
}

std::vector<Rule> parse_forced(std::string_view list) {
  std::vector<Rule> rules;
  for (const std::string_view entry : entries(list))
    rules.push_back(located("HOCKET_FORCE", [&] { return parse_force(entry); }));
  return rules;
}

std::vector<Rule> parse_disabled(std::string_view list) {
  std::vector<Rule> rules;
  for (const std::string_view name : entries(list)) {
    const FunctionName shape = located("HOCKET_DISABLE", [&] { return function(name); });
    Rule& rule = rules.emplace_back();
    rule.conditions.collective = shape.collective;
    rule.conditions.form = shape.form;
    rule.candidates.push_back({{}, "native", "native"});
    rule.text = "disabled " + std::string(name);
  }
  return rules;
}

}  // namespace hocket::tuning
