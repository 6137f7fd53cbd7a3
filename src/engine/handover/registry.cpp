#include "engine/handover/registry.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace hocket::engine::handover {

void Registry::add(Entry& entry) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(&entry);
  std::vector<Notice> for_it;
  std::erase_if(early_, [&](Notice& notice) {
    const bool matches = notice.communicator == entry.id();
    if (matches) for_it.push_back(std::move(notice));
    return matches;
  });
  for (const Notice& notice : for_it) tell(entry, notice);
}

/// What cannot be read is of another build. Its sender waits for what it has asked, and says so when that
/// takes too long.
void Registry::tell(Entry& entry, const Notice& notice) noexcept {
  try {
    entry.hear(notice.from, decode_account(notice.words));
  } catch (...) {
    return;
  }
}

void Registry::remove(const Entry& entry, std::uint32_t last) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(entries_, &entry);
  if (last == 0) return;  // it has started nothing, and so nobody has ended anything
  try {
    removed_.push_back({entry.id(), last});
  } catch (...) {
    return;  // no memory: who asks waits until it says that it has waited for too long
  }
  if (removed_.size() > most_removed) removed_.pop_front();
}

const Registry::Removed* Registry::removed(const Id& id) const noexcept {
  const auto found =
      std::find_if(removed_.rbegin(), removed_.rend(), [&](const Removed& one) { return one.id == id; });
  return found == removed_.rend() ? nullptr : &*found;
}

void Registry::hear(transports::mpi::Network& network) noexcept {
  if (!network.any_notice()) return;
  const std::lock_guard lock(mutex_);
  for (Notice& notice : network.take_notices()) try {
      take_in(network, notice);
    } catch (...) {
      continue;  // as in tell()
    }
}

void Registry::take_in(transports::mpi::Network& network, Notice& notice) {
  const auto entry =
      std::ranges::find_if(entries_, [&](const Entry* one) { return one->id() == notice.communicator; });
  if (entry != entries_.end()) return tell(**entry, notice);
  if (const Removed* const gone = removed(notice.communicator)) {
    const Account all_ended{gone->last, {}, true};
    if (!decode_account(notice.words).is_answer)
      network.notify(notice.communicator, std::span(&notice.from, 1), encode(all_ended));
    return;
  }
  if (early_.size() < most_early) early_.push_back(std::move(notice));
}

}  // namespace hocket::engine::handover
