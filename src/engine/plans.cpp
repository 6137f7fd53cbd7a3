#include "engine/plans.hpp"

namespace hocket::engine {

namespace {

bool same(const ir::Request& a, const ir::Request& b) {
  return a.root == b.root && a.commutative == b.commutative && a.parameters == b.parameters;
}

std::vector<ir::Window> staging_windows(const algorithms::Algorithm& algorithm, const ir::Request& request) {
  std::vector<ir::Window> windows;
  if (!algorithm.staging) return windows;
  for (ir::Rank r = 0; r < request.ranks; ++r) windows.push_back(algorithm.staging(request.seen_by(r)));
  return windows;
}

}  // namespace

const executors::Plan& Plans::get(const algorithms::Algorithm& algorithm, const ir::Request& request) {
  for (const Entry& e : entries_)
    if (e.algorithm == &algorithm && same(e.request, request)) return *e.plan;
  entries_.push_back({&algorithm, request,
                      std::make_unique<executors::Plan>(algorithms::build(algorithm, request),
                                                        staging_windows(algorithm, request))});
  return *entries_.back().plan;
}

}  // namespace hocket::engine
