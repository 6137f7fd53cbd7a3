#include "ir/expression.hpp"

namespace hocket::ir {

Value Expressions::fold(Value left, Value right) {
  const auto [entry, is_new] =
      known_.try_emplace(std::uint64_t{left} << 32 | right, first_fold_ + static_cast<Value>(folds_.size()));
  if (is_new) folds_.push_back({left, right});
  return entry->second;
}

std::vector<Expressions::Leaf> Expressions::leaves(Value value, std::size_t most) const {
  std::vector<Leaf> found;
  std::vector<Value> open{value};  // right operands wait here while the left ones are unfolded
  while (!open.empty() && found.size() < most) {
    const Value v = open.back();
    open.pop_back();
    if (v == undefined) continue;
    if (is_leaf(v)) {
      found.push_back(leaf_of(v));
      continue;
    }
    open.push_back(folds_[v - first_fold_].right);
    open.push_back(folds_[v - first_fold_].left);
  }
  return found;
}

std::string Expressions::to_text(Value value) const {
  constexpr std::size_t most_shown = 72;
  if (value == undefined) return "undefined";
  std::string text;
  for (const Leaf& leaf : leaves(value, most_shown)) {
    if (!text.empty()) text += " + ";
    text += std::to_string(leaf.rank) + ":" + std::to_string(leaf.chunk);
  }
  return text;
}

}  // namespace hocket::ir
