#include "tuning/parse.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "passes/reorder.hpp"

namespace hocket::tuning {
namespace {

using algorithms::Algorithm;
using passes::Recipe;
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

std::int32_t number_between(std::string_view name, std::string_view text, std::int32_t least,
                            std::int32_t most) {
  const auto value = number<std::int32_t>(trimmed(text));
  if (value < least || value > most)
    throw Error(std::string(name) + "=" + std::to_string(value) + " is not between " + std::to_string(least) +
                " and " + std::to_string(most));
  return value;
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

void set_parameter(Recipe& recipe, std::string_view assignment) {
  const std::string_view name = trimmed(next_part(assignment, "="));
  const auto known =
      recipe.algorithm ? recipe.algorithm->parameters : std::span<const algorithms::Parameter>{};
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != name) continue;
    recipe.parameters[i] = number_between(name, assignment, known[i].least, known[i].most);
    return;
  }
  const std::string names = listed(known, [](const algorithms::Parameter& p) { return p.name; });
  throw Error("unknown parameter " + quoted(name) + "; there " +
              (names.empty() ? "are none" : "is " + names));
}

/// Takes `(...)` off the end of `name(...)`, and returns what is inside.
std::string_view take_parentheses(std::string_view& text) {
  const auto open = text.find('(');
  if (open == text.npos) return {};
  if (text.back() != ')') throw Error("')' is missing at the end of " + quoted(text));
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  text = trimmed(text.substr(0, open));
  return inside;
}

/// `name` or `name(parameter=value, ...)`.
void parse_algorithm(Recipe& recipe, ir::Collective collective, std::string_view text) {
  std::string_view assignments = take_parentheses(text);
  if (text.empty()) throw Error("there is no algorithm");
  recipe.algorithm = algorithm(collective, text);
  if (recipe.algorithm) recipe.parameters = algorithms::presets(*recipe.algorithm);
  while (!assignments.empty()) set_parameter(recipe, next_part(assignments, ","));
}

/// `level` or `level(radix=4)`.
void add_level(passes::By& by, std::string_view text) {
  std::string_view radix = take_parentheses(text);
  const auto found = std::ranges::find(passes::level_names, text);
  if (found == passes::level_names.end())
    throw Error("unknown level " + quoted(text) + "; there are " +
                listed(passes::level_names, [](std::string_view name) { return name; }));
  const auto level = static_cast<passes::Level>(found - passes::level_names.begin());
  if (radix.empty()) return by.add(level);
  if (const auto name = trimmed(next_part(radix, "=")); name != "radix")
    throw Error("unknown parameter " + quoted(name) + "; there is radix");
  constexpr std::int32_t least = 2, most = 64;
  by.add(level, static_cast<std::int16_t>(number_between("radix", radix, least, most)));
}

std::string_view next_word(std::string_view& words) {
  words = trimmed(words);
  return next_part(words, blanks);
}

void parse_levels(Recipe& recipe, std::string_view levels) {
  if (levels.empty()) throw Error("'by' names levels: nodes, leaves, switches, with + between them");
  while (!levels.empty()) add_level(recipe.by, next_part(levels, "+"));
}

/// `8 segments`.
void parse_segments(Recipe& recipe, std::string_view& words) {
  const std::string_view count = next_word(words);
  constexpr std::int32_t most = 1024;
  recipe.segments = static_cast<std::uint32_t>(number_between("segments", count, 1, most));
  if (next_word(words) != "segments")
    throw Error("'segments' is missing after 'in " + std::string(count) + "'");
}

/// The words after the algorithm: `by levels`, `reordered`, `in 8 segments`.
void parse_modifiers(Recipe& recipe, std::string_view words) {
  while (!trimmed(words).empty()) {
    const std::string_view word = next_word(words);
    if (word == "by")
      parse_levels(recipe, next_word(words));
    else if (word == "in")
      parse_segments(recipe, words);
    else if (word == "reordered")
      recipe.reordered = true;
    else
      throw Error("unknown word " + quoted(word) + "; there are by, in and reordered");
  }
}

/// Whatever is wrong with a row as a part of a hierarchy shows in a small one.
void check_hierarchy(const Recipe& recipe) {
  const passes::Neighbourhood sample({{0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 0, 1, 1, 1, 1}});
  Recipe by_nodes = recipe;
  by_nodes.by = {};
  by_nodes.by.add(passes::Level::nodes);
  static_cast<void>(passes::build(by_nodes, {recipe.algorithm->collective, 8}, &sample));
}

void check(const Recipe& recipe) {
  if (recipe.is_flat()) return;
  const std::string name = recipe.algorithm ? std::string(recipe.algorithm->name) : "native";
  if (!recipe.algorithm || recipe.algorithm->access != algorithms::Access::two_sided)
    throw Error(quoted(name) + " does not send and receive, and can follow no switches");
  if (recipe.reordered && !passes::can_be_reordered(recipe.algorithm->collective))
    throw Error("the prefixes of " + quoted(ir::name_of(recipe.algorithm->collective)) +
                " follow the order of ranks");
  if (recipe.segments > 1 && !ir::is_vector(recipe.algorithm->collective))
    throw Error("only vectors can be cut into segments");
  if (recipe.by.empty()) return;
  if (recipe.algorithm->blocks == algorithms::Blocks::equal)
    throw Error(quoted(name) + " needs equal blocks, and groups have different ones");
  try {
    check_hierarchy(recipe);
  } catch (const Error& error) {
    throw Error(quoted(name) + " cannot be a part of a hierarchy: " + error.what());
  }
}

/// Where `name(...)` ends and other words begin.
std::size_t end_of_algorithm(std::string_view text) {
  const auto open = text.find('(');
  const auto blank = text.find_first_of(blanks);
  if (open == text.npos || trimmed(text.substr(0, open)).find_first_of(blanks) != text.npos) return blank;
  const auto close = text.find(')', open);
  if (close == text.npos) throw Error("')' is missing at the end of " + quoted(text));
  return close + 1;
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

/// What reports call it: the algorithm without its parameters, and what it follows.
std::string name_of(const Recipe& recipe, std::string_view text) {
  const std::string name(recipe.algorithm ? recipe.algorithm->name : "native");
  return recipe.is_flat() ? name : name + " " + std::string(trimmed(text.substr(end_of_algorithm(text))));
}

Rule::Candidate candidate(ir::Collective collective, std::string_view text) {
  const Recipe recipe = parse_recipe(collective, text);
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
                       complaint + "the ranks do not read each other's memory",
                       complaint + "the ranks are not in such groups",
                       complaint + "the operation does not commute, and near ranks are not consecutive"};
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

Recipe parse_recipe(ir::Collective collective, std::string_view text) {
  Recipe recipe;
  const std::size_t end = end_of_algorithm(text);
  parse_algorithm(recipe, collective, trimmed(text.substr(0, end)));
  if (end < text.size()) parse_modifiers(recipe, text.substr(end));
  check(recipe);
  return recipe;
}

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
