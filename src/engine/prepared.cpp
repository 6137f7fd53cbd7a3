#include "engine/prepared.hpp"

namespace hocket::engine {

std::unique_ptr<Prepared> own_copy_of(const Prepared& prepared) {
  auto own = std::make_unique<Prepared>();
  own->kind = prepared.kind;
  own->signature = prepared.signature;
  own->path = prepared.path;
  own->single_copy = prepared.single_copy;
  return own;
}

Prepared& PreparedCalls::add(std::unique_ptr<Prepared> prepared) {
  if (calls_.size() >= capacity && !calls_.contains(prepared->kind)) give_up_oldest();
  Prepared& added = *prepared;
  added.last_used = ++clock_;
  replace(calls_[added.kind], std::move(prepared));
  last_ = nullptr;
  if (!added.is_native()) report_.count_plan_made();
  return added;
}

void PreparedCalls::replace(std::unique_ptr<Prepared>& old, std::unique_ptr<Prepared> prepared) {
  std::erase_if(outdated_, [](const auto& outdated) { return outdated->users == 0; });
  if (old && !old->is_native()) report_.count_plan_given_up();
  if (old && old->users != 0) outdated_.push_back(std::move(old));
  old = std::move(prepared);
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
