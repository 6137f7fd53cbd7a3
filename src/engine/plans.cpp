#include "engine/plans.hpp"

#include <algorithm>
#include <utility>

#include "passes/segment.hpp"

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

/// All ranks' schedules are looked at, so that all ranks decide alike: some requests of a row may be
/// pipelined, others not (a k-nomial reduction whose operation does not commute ends with a message that
/// makes a cycle).
bool can_segment(const algorithms::Algorithm& algorithm, const ir::Request& request) {
  std::vector<ir::Schedule> all;
  for (ir::Rank r = 0; r < request.ranks; ++r)
    all.push_back(algorithms::build(algorithm, request.seen_by(r)));
  return passes::can_segment(all);
}

ir::Schedule schedule_for(const algorithms::Algorithm& algorithm, const ir::Request& request) {
  ir::Schedule schedule = algorithms::build(algorithm, request);
  const std::int32_t segments = algorithms::parameter(algorithm, request.parameters, "segments", 1);
  if (segments < 2 || !can_segment(algorithm, request)) return schedule;
  return passes::segment(schedule, static_cast<std::uint32_t>(segments));
}

}  // namespace

Plans::Shared Plans::get(const algorithms::Algorithm& algorithm, const ir::Request& request) {
  ++clock_;
  for (Entry& e : entries_) {
    if (e.algorithm != &algorithm || !same(e.request, request)) continue;
    e.last_used = clock_;
    return e.plan;
  }
  auto plan = std::make_shared<const executors::Plan>(schedule_for(algorithm, request),
                                                      staging_windows(algorithm, request));
  add({&algorithm, request, plan, clock_});
  return plan;
}

void Plans::add(Entry entry) {
  if (entries_.size() < capacity_) return entries_.push_back(std::move(entry));
  *std::ranges::min_element(entries_, {}, &Entry::last_used) = std::move(entry);
}

}  // namespace hocket::engine
