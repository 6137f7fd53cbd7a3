#include "worker/idle_operations.hpp"

#include <utility>

namespace hocket::worker {

std::unique_ptr<Carried> IdleOperations::take_out(Recent::iterator one) {
  std::unique_ptr<Carried> operation = std::move(one->operation);
  bytes_ -= operation->bytes();
  recent_.erase(one);
  return operation;
}

std::unique_ptr<Carried> IdleOperations::take(std::uint32_t definition) {
  const auto found = by_definition_.find(definition);
  if (found == by_definition_.end() || found->second.empty()) return nullptr;
  const Recent::iterator last = found->second.back();
  found->second.pop_back();
  return take_out(last);
}

void IdleOperations::keep(std::uint32_t definition, std::unique_ptr<Carried> operation) {
  bytes_ += operation->bytes();
  recent_.push_front({definition, std::move(operation)});
  by_definition_[definition].push_back(recent_.begin());
  while (bytes_ > most_bytes_ && recent_.size() > 1) free_oldest();
}

void IdleOperations::free_oldest() {
  const Recent::iterator oldest = std::prev(recent_.end());
  const auto of_same = by_definition_.find(oldest->definition);
  if (of_same != by_definition_.end()) std::erase(of_same->second, oldest);
  take_out(oldest);
}

void IdleOperations::forget(std::uint32_t definition) {
  const auto found = by_definition_.find(definition);
  if (found == by_definition_.end()) return;
  for (const Recent::iterator one : found->second) take_out(one);
  by_definition_.erase(found);
}

}  // namespace hocket::worker
