#include "tuning/parse.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace hocket::tuning {
namespace {

using algorithms::Algorithm;
using Rule = Rules::Rule;

/// Takes what stands before the next separator out of `text`.
std::string_view next_part(std::string_view& text, std::string_view separators) {
  const auto end = text.find_first_of(separators);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <class Range, class NameOf>
std::string listed(const Range& range, NameOf name_of) {
  std::string text;
  for (const auto& item : range) {
    const std::string_view name = name_of(item);
    if (!name.empty()) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

FunctionName function(std::string_view name) {
  if (const auto found = function_named(name)) return *found;
  throw Error("unknown collective " + quoted(name) + "; there are " +
              listed(function_names, [](const FunctionName& f) { return f.name; }));
}

const Algorithm* algorithm(ir::Collective collective, std::string_view name) {
  if (name == "native") return nullptr;
  if (const Algorithm* found = algorithms::find(collective, name)) return found;
  const auto name_of = [&](const Algorithm& row) { return row.collective == collective ? row.name : ""; };
  throw Error("unknown algorithm " + quoted(name) + " for " + std::string(ir::name_of(collective)) +
              "; there are " + listed(algorithms::catalog(), name_of) + ", native");
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw Error(quoted(text) + " is not a number");
  return value;
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

constexpr std::array<FlagWord, 8> flag_words = {{{"oversubscribed", &Conditions::oversubscribed},
                                                 {"commutative", &Conditions::commutative},
                                                 {"predefined", &Conditions::predefined},
                                                 {"unequal", &Conditions::unequal},
                                                 {"unknown", &Conditions::unknown},
                                                 {"single_copy", &Conditions::single_copy},
                                                 {"across_nodes", &Conditions::across_nodes},
                                                 {"background", &Conditions::background}}};

bool add_comparison(Conditions& conditions, std::string_view word) {
  const auto name_end = std::min(word.find_first_of("<>"), word.size());
  const std::string_view name = word.substr(0, name_end);
  if (name_end == word.size() || (name != "bytes" && name != "ranks")) return false;
  limit(name == "bytes" ? conditions.bytes : conditions.ranks, word.substr(name_end));
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
  throw Error("unknown condition " + quoted(word) + "; there are bytes and ranks with <, <=, > or >=, and " +
              listed(flag_words, [](const FlagWord& flag) { return flag.name; }) +
              ", each also with ! before it");
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

void set_parameter(Rule& rule, std::string_view assignment) {
  const std::string_view name = trimmed(next_part(assignment, "="));
  const auto known = rule.algorithm ? rule.algorithm->parameters : std::span<const algorithms::Parameter>{};
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != name) continue;
    const auto value = number<std::int32_t>(trimmed(assignment));
    if (value < known[i].least || value > known[i].most)
      throw Error(std::string(name) + "=" + std::to_string(value) + " is not between " +
                  std::to_string(known[i].least) + " and " + std::to_string(known[i].most));
    rule.parameters[i] = value;
    return;
  }
  const std::string names = listed(known, [](const algorithms::Parameter& p) { return p.name; });
  throw Error("unknown parameter " + quoted(name) + "; there " +
              (names.empty() ? "are none" : "is " + names));
}

/// `name` or `name(parameter=value, ...)`.
void parse_decision(Rule& rule, std::string_view text) {
  const auto open = text.find('(');
  const std::string_view name = trimmed(text.substr(0, open));
  if (name.empty()) throw Error("there is no algorithm");
  rule.algorithm = algorithm(rule.conditions.collective, name);
  if (rule.algorithm) rule.parameters = algorithms::presets(*rule.algorithm);
  if (open == text.npos) return;
  if (text.back() != ')') throw Error("')' is missing at the end of " + quoted(text));
  std::string_view assignments = text.substr(open + 1, text.size() - open - 2);
  while (!assignments.empty()) set_parameter(rule, next_part(assignments, ","));
}

Rule parse_rule(std::string_view line) {
  const auto arrow = line.find("->");
  if (arrow == line.npos) throw Error("'->' is missing");
  Rule rule;
  rule.conditions = parse_conditions(trimmed(line.substr(0, arrow)));
  parse_decision(rule, trimmed(line.substr(arrow + 2)));
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
  parse_decision(rule, decision);
  rule.text = "forced " + std::string(decision);
  const std::string complaint = rule.text + " does not fit: ";
  rule.does_not_fit = {"",
                       complaint + "needs a commutative operation",
                       complaint + "needs known sizes",
                       complaint + "needs equal blocks",
                       complaint + "not for this number of ranks",
                       complaint + "reads other ranks' memory, and they are on several nodes",
                       complaint + "the ranks do not read each other's memory"};
  return rule;
}

/// Parts between commas that are not inside of parentheses.
std::vector<std::string_view> entries(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) depth += (list[i] == '(') - (list[i] == ')');
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    const std::string_view part = trimmed(list.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
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
    rule.text = "disabled " + std::string(name);
  }
  return rules;
}

}  // namespace hocket::tuning
