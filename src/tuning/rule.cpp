#include "tuning/rule.hpp"

namespace hocket::tuning {
namespace {

bool agrees(const std::optional<bool>& wanted, bool is) {
  return !wanted || *wanted == is;
}

bool has_form(Form form, bool equal_blocks) {
  return form == Form::every || (form == Form::equal) == equal_blocks;
}

}  // namespace

bool Conditions::hold(const Situation& s) const noexcept {
  return s.collective == collective && has_form(form, s.equal_blocks) &&
         (!bytes.limits() || (s.sizes_known && bytes.holds(s.bytes))) &&
         ranks.holds(static_cast<std::size_t>(s.ranks)) && agrees(oversubscribed, s.oversubscribed) &&
         agrees(commutative, s.commutative) && agrees(predefined, s.predefined) &&
         agrees(unequal, !s.equal_blocks) && agrees(unknown, !s.sizes_known) &&
         agrees(single_copy, s.single_copy) && agrees(across_nodes, s.across_nodes) &&
         agrees(background, s.background);
}

Obstacle obstacle(const algorithms::Algorithm& row, const ir::Parameters& parameters,
                  const Situation& s) noexcept {
  using algorithms::Blocks;
  const bool reduces = ir::is_reduction(row.collective);
  if (reduces && row.order == algorithms::Order::any && !s.commutative) return Obstacle::order;
  if (ir::is_blocks(row.collective)) {
    if (!s.sizes_known && row.blocks != Blocks::any) return Obstacle::sizes;
    if (!s.equal_blocks && row.blocks == Blocks::equal) return Obstacle::equality;
  }
  const ir::Request request{s.collective, s.ranks, 0, 0, s.commutative, parameters};
  if (!algorithms::fits(row, request)) return Obstacle::ranks;
  if (s.across_nodes && row.access != algorithms::Access::two_sided) return Obstacle::nodes;
  return row.single_copy && !s.single_copy ? Obstacle::single_copy : Obstacle::none;
}

}  // namespace hocket::tuning
