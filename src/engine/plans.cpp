#include "engine/plans.hpp"

#include <algorithm>
#include <utility>

namespace hocket::engine {

namespace {

bool same(const ir::Request& a, const ir::Request& b) {
  return a.root == b.root && a.commutative == b.commutative;
}

std::vector<ir::Window> staging_windows(const passes::Recipe& recipe, ir::Request request) {
  std::vector<ir::Window> windows;
  if (!recipe.algorithm->staging) return windows;
  request.parameters = recipe.parameters;
  for (ir::Rank r = 0; r < request.ranks; ++r)
    windows.push_back(recipe.algorithm->staging(request.seen_by(r)));
  return windows;
}

}  // namespace

Plans::Shared Plans::get(const passes::Recipe& recipe, const ir::Request& request,
                         const passes::Neighbourhood* near) {
  ++clock_;
  for (Entry& e : entries_) {
    if (e.recipe != recipe || !same(e.request, request)) continue;
    e.last_used = clock_;
    return e.plan;
  }
  auto plan = std::make_shared<const executors::Plan>(passes::build(recipe, request, near),
                                                      staging_windows(recipe, request));
  add({recipe, request, plan, clock_});
  return plan;
}

void Plans::add(Entry entry) {
  if (entries_.size() < capacity_) return entries_.push_back(std::move(entry));
  *std::ranges::min_element(entries_, {}, &Entry::last_used) = std::move(entry);
}

}  // namespace hocket::engine
