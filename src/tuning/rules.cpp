#include "tuning/rules.hpp"

#include <array>
#include <cstdio>
#include <iterator>
#include <memory>

#include "base/error.hpp"
#include "tuning/default_rules.hpp"
#include "tuning/parse.hpp"

namespace hocket::tuning {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string contents_of(const std::string& name) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(name.c_str(), "re"));
  if (!file) throw Error("the rules file '" + name + "' cannot be read");
  std::string text;
  std::array<char, 4096> piece;
  while (!std::feof(file.get()) && !std::ferror(file.get()))
    text.append(piece.data(), std::fread(piece.data(), 1, piece.size(), file.get()));
  if (std::ferror(file.get())) throw Error("the rules file '" + name + "' cannot be read");
  return text;
}

void append(std::vector<Rules::Rule>& rules, std::vector<Rules::Rule> more) {
  rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

constexpr std::string_view no_rule = "no rule fits";

}  // namespace

Rules::Rules(std::string_view disable, std::string_view force, std::string_view file) {
  append(rules_, parse_disabled(disable));
  append(rules_, parse_forced(force));
  if (!file.empty()) append(rules_, parse_rules(contents_of(std::string(file)), file));
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
    const auto why_not = rule.recipe.algorithm ? obstacle(rule.recipe, situation) : Obstacle::none;
    if (why_not == Obstacle::none)
      return {rule.recipe, &rule >= rules_.data() + first_built_in_, rule.name,
              complaint.empty() ? std::string_view(rule.text) : complaint};
    if (complaint.empty()) complaint = rule.does_not_fit[static_cast<std::size_t>(why_not)];
  }
  return {{}, true, "native", complaint.empty() ? no_rule : complaint};
}

std::vector<std::string_view> Rules::texts() const {
  std::vector<std::string_view> all;
  for (const Rule& rule : rules_) all.push_back(rule.text);
  return all;
}

}  // namespace hocket::tuning
