#include "engine/prepared.hpp"

namespace hocket::engine {

Prepared& PreparedCalls::make(const CallKind& kind) {
  if (calls_.size() >= capacity) give_up_oldest();
  auto prepared = std::make_unique<Prepared>();
  prepared->kind = kind;
  prepared->last_used = ++clock_;
  Prepared& made = *prepared;
  calls_.insert_or_assign(kind, std::move(prepared));
  last_ = nullptr;
  return made;
}

void PreparedCalls::give_up_oldest() noexcept {
  auto oldest = calls_.end();
  for (auto it = calls_.begin(); it != calls_.end(); ++it)
    if (it->second->users == 0 &&
        (oldest == calls_.end() || it->second->last_used < oldest->second->last_used))
      oldest = it;
  if (oldest == calls_.end()) return;
  if (!oldest->second->is_native()) report_.count_plan_given_up();
  calls_.erase(oldest);
  last_ = nullptr;
}

}  // namespace hocket::engine
