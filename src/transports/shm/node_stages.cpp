#include "transports/shm/node_stages.hpp"

#include <utility>

namespace hocket::transports::shm {

NodeStages::NodeStages(std::byte* memory, NodeRanks ranks, Rank self)
    : ranks_(std::move(ranks)),
      memory_(reinterpret_cast<Stage*>(memory)),
      stages_(stages_of_each(ranks_.size())),
      own_(place(self)) {}

bool NodeStages::is_all_empty(std::uint32_t stage) const noexcept {
  for (std::uint32_t number = 0; number < depth; ++number)
    if (!is_empty({stage, number})) return false;
  return true;
}

bool NodeStages::take(const void* owner, std::uint32_t& stage) noexcept {
  for (stage = 0; stage < stages_; ++stage) {
    if (owners_[stage] || !is_all_empty(stage)) continue;
    owners_[stage] = owner;
    return true;
  }
  return false;
}

void NodeStages::release_all_of(const void* owner) noexcept {
  std::ranges::replace(owners_, owner, static_cast<const void*>(nullptr));
}

bool NodeStages::await(Area area) noexcept {
  State seen = State::full;
  return word(own_, area).compare_exchange_strong(seen, State::awaited, std::memory_order_acq_rel) ||
         seen == State::awaited;
}

}  // namespace hocket::transports::shm
