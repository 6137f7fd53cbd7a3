#include "tuning/rule.hpp"

namespace hocket::tuning {
namespace {

bool agrees(const std::optional<bool>& wanted, bool is) {
  return !wanted || *wanted == is;
}

bool has_form(Form form, bool equal_blocks) {
  return form == Form::every || (form == Form::equal) == equal_blocks;
}

/// A leader that keeps blocks for others has to know how large they are. In an alltoallv it is told.
bool needs_sizes(const passes::Recipe& recipe) {
  if (recipe.algorithm->blocks != algorithms::Blocks::any) return true;
  const bool is_told = recipe.algorithm->collective == ir::Collective::alltoall && !recipe.reordered;
  return !recipe.by.empty() && !is_told;
}

/// Switches know MPI's own operations at most.
bool has_switches_for(const algorithms::Algorithm& row, const Situation& s) {
  return s.in_network && s.across_nodes && (s.predefined || !ir::is_reduction(row.collective));
}

/// Whether ranks are known to be under several switches, and some of them together under one.
bool has_switches(const Situation& s) {
  passes::By leaves;
  leaves.add(passes::Level::leaves);
  return s.near && s.near->grouped(leaves);
}

/// Whether ranks of a node, or under a switch, are known not to follow each other.
bool is_interleaved(const Situation& s) {
  return s.near && !s.near->is_in_order();
}

Obstacle obstacle_of(passes::Misfit misfit) {
  switch (misfit) {
    case passes::Misfit::none:
      return Obstacle::none;
    case passes::Misfit::ranks:
      return Obstacle::ranks;
    case passes::Misfit::groups:
      return Obstacle::groups;
    case passes::Misfit::equal:
      return Obstacle::unequal_groups;
    case passes::Misfit::order:
      return Obstacle::runs;
  }
  return Obstacle::none;
}

/// As far as it is known how many there are.
bool has_nodes(const Situation& s, const Interval& wanted) {
  if (!wanted.limits()) return true;
  if (!s.across_nodes) return wanted.holds(1);
  return s.near && wanted.holds(s.near->nodes());
}

}  // namespace

bool Conditions::hold(const Situation& s) const {
  return s.collective == collective && has_form(form, s.equal_blocks) &&
         (!bytes.limits() || (s.sizes_known && bytes.holds(s.bytes))) &&
         ranks.holds(static_cast<std::size_t>(s.ranks)) && has_nodes(s, nodes) &&
         agrees(oversubscribed, s.oversubscribed) && agrees(commutative, s.commutative) &&
         agrees(predefined, s.predefined) && agrees(unequal, !s.equal_blocks) &&
         agrees(unknown, !s.sizes_known) && agrees(single_copy, s.single_copy) &&
         agrees(across_nodes, s.across_nodes) && (!switches || *switches == has_switches(s)) &&
         (!interleaved || *interleaved == is_interleaved(s)) && agrees(blocking, s.blocking) &&
         agrees(background, s.background) && agrees(worker, s.worker) && agrees(mapped, s.mapped) &&
         agrees(whole_node, s.whole_node) && agrees(in_network, s.in_network) && agrees(streams, s.streams) &&
         agrees(costs, s.costs_told);
}

Obstacle obstacle(const passes::Recipe& recipe, const Situation& s) {
  using algorithms::Blocks;
  const algorithms::Algorithm& row = *recipe.algorithm;
  if (ir::is_reduction(row.collective) && row.order == algorithms::Order::any && !s.commutative)
    return Obstacle::order;
  if (ir::is_blocks(row.collective)) {
    if (!s.sizes_known && needs_sizes(recipe)) return Obstacle::sizes;
    if (!s.equal_blocks && row.blocks == Blocks::equal) return Obstacle::equality;
  }
  if (s.across_nodes && row.access == algorithms::Access::one_sided) return Obstacle::nodes;
  if (row.access == algorithms::Access::in_network && !has_switches_for(row, s)) return Obstacle::network;
  if (row.single_copy && !s.single_copy) return Obstacle::single_copy;
  const ir::Request request{s.collective, s.ranks, 0, 0, s.commutative, {}};
  const Obstacle found = obstacle_of(passes::misfit(recipe, request, s.near));
  if (found != Obstacle::none) return found;
  return s.model && s.model->is_too_large(recipe, request) ? Obstacle::many : Obstacle::none;
}

}  // namespace hocket::tuning
