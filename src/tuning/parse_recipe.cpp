#include "tuning/parse_recipe.hpp"

#include <algorithm>
#include <span>

#include "passes/reorder.hpp"
#include "tuning/words.hpp"

namespace hocket::tuning {
namespace {

using algorithms::Algorithm;
using passes::Recipe;

const Algorithm* algorithm(ir::Collective collective, std::string_view name) {
  if (name == "native") return nullptr;
  if (const Algorithm* found = algorithms::find(collective, name)) return found;
  const auto name_of = [&](const Algorithm& row) { return row.collective == collective ? row.name : ""; };
  throw Error("unknown algorithm " + quoted(name) + " for " + std::string(ir::name_of(collective)) +
              "; there are " + listed(algorithms::catalog(), name_of) + ", native");
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

/// `level`, `level(radix=4)` or `level(slices)`.
void add_level(passes::By& by, std::string_view text) {
  std::string_view inside = take_parentheses(text);
  const auto found = std::ranges::find(passes::level_names, text);
  if (found == passes::level_names.end())
    throw Error("unknown level " + quoted(text) + "; there are " +
                listed(passes::level_names, [](std::string_view name) { return name; }));
  const auto level = static_cast<passes::Level>(found - passes::level_names.begin());
  if (inside.empty()) return by.add(level);
  if (inside == "slices") return by.add(level, passes::By::slices);
  if (const auto name = trimmed(next_part(inside, "=")); name != "radix")
    throw Error("unknown parameter " + quoted(name) + "; there is radix, or the word slices");
  constexpr std::int32_t least = 2, most = 64;
  by.add(level, static_cast<std::int16_t>(number_between("radix", inside, least, most)));
}

std::string_view next_word(std::string_view& words) {
  words = trimmed(words);
  return next_part(words, blanks);
}

void parse_levels(Recipe& recipe, std::string_view levels) {
  if (levels.empty()) throw Error("'by' names levels: sockets, nodes, leaves, switches, with + between them");
  while (!levels.empty()) add_level(recipe.by, next_part(levels, "+"));
}

/// `8 segments` after the word `in`: a number, and what there are so many of.
std::uint32_t parse_count(std::string_view before, std::string_view what, std::int32_t most,
                          std::string_view& words) {
  const std::string_view count = next_word(words);
  const auto number = static_cast<std::uint32_t>(number_between(what, count, 1, most));
  if (next_word(words) != what)
    throw Error(quoted(what) + " is missing after " + quoted(std::string(before) + " " + std::string(count)));
  return number;
}

/// `8 segments`, `3 segments 2 apart`.
void parse_segments(Recipe& recipe, std::string_view& words) {
  constexpr std::int32_t most = 1024, most_apart = 64;
  recipe.segments = parse_count("in", "segments", most, words);
  words = trimmed(words);
  if (words.empty() || words.front() < '0' || words.front() > '9') return;
  recipe.apart = parse_count("segments", "apart", most_apart, words);
  if (recipe.segments == 1) throw Error("one segment has none to be apart from");
}

void parse_leaders(Recipe& recipe, std::string_view& words) {
  constexpr std::int32_t most = 64;
  recipe.leaders = parse_count("with", "leaders", most, words);
}

/// The words after the algorithm: `by levels`, `reordered`, `in 8 segments 2 apart`, `with 4
/// leaders`.
void parse_modifiers(Recipe& recipe, std::string_view words) {
  while (!trimmed(words).empty()) {
    const std::string_view word = next_word(words);
    if (word == "by")
      parse_levels(recipe, next_word(words));
    else if (word == "in")
      parse_segments(recipe, words);
    else if (word == "with")
      parse_leaders(recipe, words);
    else if (word == "reordered")
      recipe.reordered = true;
    else
      throw Error("unknown word " + quoted(word) + "; there are by, in, with and reordered");
  }
}

/// Whatever is wrong with a row as a part of a hierarchy shows in a small one.
void check_hierarchy(const Recipe& recipe) {
  const passes::Neighbourhood sample({{0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 0, 1, 1, 1, 1}});
  Recipe by_nodes = recipe;
  by_nodes.by = {};
  by_nodes.by.add(passes::Level::nodes, recipe.by.has_slices() ? passes::By::slices : passes::By::preset);
  static_cast<void>(passes::build(by_nodes, {recipe.algorithm->collective, 8}, &sample));
}

bool can_follow(const Algorithm* row) {
  using enum algorithms::Access;
  return row && (row->access == two_sided || row->access == in_network);
}

bool folds_vectors(ir::Collective collective) {
  return collective == ir::Collective::reduce || collective == ir::Collective::allreduce;
}

void check(const Recipe& recipe) {
  if (recipe.is_flat()) return;
  const std::string name = recipe.algorithm ? std::string(recipe.algorithm->name) : "native";
  if (!can_follow(recipe.algorithm))
    throw Error(quoted(name) + " does not send and receive, and can follow no switches");
  if (recipe.reordered && !passes::can_be_reordered(recipe.algorithm->collective))
    throw Error("the prefixes of " + quoted(ir::name_of(recipe.algorithm->collective)) +
                " follow the order of ranks");
  if (recipe.segments > 1 && !ir::is_vector(recipe.algorithm->collective))
    throw Error("only vectors can be cut into segments");
  if (recipe.leaders > 1 && !ir::is_vector(recipe.algorithm->collective))
    throw Error("only vectors can be dealt out to several leaders");
  if (recipe.by.has_slices() && !folds_vectors(recipe.algorithm->collective))
    throw Error("only what reduces vectors has slices");
  if (recipe.leaders > 1 && recipe.by.empty()) throw Error("leaders are those of groups: 'by' says of which");
  if (recipe.by.empty()) return;
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

}  // namespace

std::string name_of(const Recipe& recipe, std::string_view text) {
  const std::string name(recipe.algorithm ? recipe.algorithm->name : "native");
  return recipe.is_flat() ? name : name + " " + std::string(trimmed(text.substr(end_of_algorithm(text))));
}

Recipe parse_recipe(ir::Collective collective, std::string_view text) {
  Recipe recipe;
  const std::size_t end = end_of_algorithm(text);
  parse_algorithm(recipe, collective, trimmed(text.substr(0, end)));
  if (end < text.size()) parse_modifiers(recipe, text.substr(end));
  check(recipe);
  return recipe;
}

}  // namespace hocket::tuning
