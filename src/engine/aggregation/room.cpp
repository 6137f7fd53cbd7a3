#include "engine/aggregation/room.hpp"

#include <algorithm>

#include "engine/aggregation/leader_group.hpp"

namespace hocket::engine::aggregation {

void Room::use(LeaderGroup& group) noexcept {
  const std::lock_guard lock(mutex_);
  group.in_use_ = true;
  std::erase(groups_, &group);
  try {
    groups_.push_back(&group);
  } catch (...) {
    return;  // it cannot be taken away, then
  }
}

void Room::done_with(LeaderGroup& group) noexcept {
  const std::lock_guard lock(mutex_);
  group.in_use_ = false;
}

void Room::forget(LeaderGroup& group) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(groups_, &group);
}

void Room::release_oldest() noexcept {
  const std::lock_guard lock(mutex_);
  const auto oldest =
      std::ranges::find_if(groups_, [](const LeaderGroup* g) { return g->group_ && !g->in_use_; });
  if (oldest != groups_.end()) (*oldest)->group_.reset();
}

}  // namespace hocket::engine::aggregation
