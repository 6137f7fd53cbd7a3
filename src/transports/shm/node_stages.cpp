#include "transports/shm/node_stages.hpp"

#include <algorithm>
#include <utility>

namespace hocket::transports::shm {

NodeStages::NodeStages(std::byte* memory, NodeRanks ranks, Rank self)
    : ranks_(std::move(ranks)), memory_(reinterpret_cast<Memory*>(memory)), own_(place(self)) {}

bool NodeStages::is_all_empty(std::uint32_t stage) const noexcept {
  for (std::uint32_t number = 0; number < depth; ++number)
    if (!is_empty({stage, number})) return false;
  return true;
}

bool NodeStages::take(const void* owner, std::uint32_t& stage) noexcept {
  for (stage = 0; stage < stages; ++stage) {
    if (owners_[stage] || !is_all_empty(stage)) continue;
    owners_[stage] = owner;
    return true;
  }
  return false;
}

void NodeStages::release_all_of(const void* owner) noexcept {
  std::ranges::replace(owners_, owner, static_cast<const void*>(nullptr));
}

}  // namespace hocket::transports::shm
