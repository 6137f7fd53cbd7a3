#include "tuning/rules.hpp"

#include <iterator>
#include <limits>
#include <optional>

#include "base/file.hpp"
#include "tuning/default_rules.hpp"
#include "tuning/parse.hpp"
#include "tuning/rule.hpp"

namespace hocket::tuning {
namespace {

void append(std::vector<Rules::Rule>& rules, std::vector<Rules::Rule> more) {
  rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

constexpr std::string_view no_rule = "no rule fits";

/// Of the vector, or of one block.
std::size_t modelled_bytes(const Situation& s) {
  const bool is_sum = s.collective == ir::Collective::reduce_scatter ||
                      (s.collective == ir::Collective::allgather && !s.equal_blocks);
  return is_sum ? s.bytes / static_cast<std::size_t>(s.ranks) : s.bytes;
}

/// Nothing where the model cannot tell.
std::optional<double> predicted_us(const passes::Recipe& recipe, const Situation& s) {
  if (!s.model || recipe.is_native() || !s.sizes_known) return std::nullopt;
  const auto cost = s.model->of(recipe, {s.collective, s.ranks, 0, 0, s.commutative, {}});
  return cost ? std::optional(cost->at(modelled_bytes(s))) : std::nullopt;
}

/// Of those that can do the call; where the model cannot tell of each, the first. The MPI's own, which has no
/// schedule, is for where nothing else fits. Null, and why not, if there is none.
const Rules::Rule::Candidate* cheapest(const Rules::Rule& rule, const Situation& s, Obstacle& why_not) {
  const Rules::Rule::Candidate *native = nullptr, *first = nullptr, *best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  bool knows_all = true;
  for (const Rules::Rule::Candidate& candidate : rule.candidates) {
    if (candidate.recipe.is_native()) {
      native = &candidate;
      continue;
    }
    if (const Obstacle found = obstacle(candidate.recipe, s); found != Obstacle::none) {
      if (why_not == Obstacle::none) why_not = found;
      continue;
    }
    if (rule.candidates.size() == 1) return &candidate;
    if (!first) first = &candidate;
    const std::optional<double> us = predicted_us(candidate.recipe, s);
    knows_all = knows_all && us;
    if (us && *us < least) {
      best = &candidate;
      least = *us;
    }
  }
  if (!first) return native;
  return knows_all && best ? best : first;
}

}  // namespace

Rules::Rules(std::string_view disable, std::string_view force, std::string_view file) {
  append(rules_, parse_disabled(disable));
  append(rules_, parse_forced(force));
  if (!file.empty())
    append(rules_, parse_rules(read_file(std::string(file), most_bytes_by_hand, "the rules file "), file));
  first_built_in_ = rules_.size();
  append(rules_, parse_rules(default_rules, "default.rules"));
}

Rules::Rules(Rules&&) noexcept = default;
Rules& Rules::operator=(Rules&&) noexcept = default;
Rules::~Rules() = default;

Choice Rules::choose(const Situation& situation) const {
  std::string_view complaint;  // of the forced rule that could not be followed
  for (const Rule& rule : rules_) {
    if (!rule.conditions.hold(situation)) continue;
    Obstacle why_not = Obstacle::none;
    if (const Rule::Candidate* chosen = cheapest(rule, situation, why_not))
      return {chosen->recipe, &rule >= rules_.data() + first_built_in_, chosen->name, chosen->text,
              complaint.empty() ? std::string_view(rule.text) : complaint};
    if (complaint.empty()) complaint = rule.does_not_fit[static_cast<std::size_t>(why_not)];
  }
  return {{}, true, "native", "native", complaint.empty() ? no_rule : complaint};
}

std::vector<Considered> Rules::considered(const Situation& situation) const {
  std::vector<Considered> found;
  for (const Rule& rule : rules_) {
    Obstacle why_not = Obstacle::none;
    if (!rule.conditions.hold(situation) || !cheapest(rule, situation, why_not)) continue;
    for (const Rule::Candidate& each : rule.candidates) {
      const bool fits = each.recipe.is_native() || obstacle(each.recipe, situation) == Obstacle::none;
      found.push_back({each.text, fits, fits ? predicted_us(each.recipe, situation) : std::nullopt});
    }
    break;
  }
  return found;
}

std::vector<std::string_view> Rules::texts() const {
  std::vector<std::string_view> all;
  for (const Rule& rule : rules_) all.push_back(rule.text);
  return all;
}

}  // namespace hocket::tuning
