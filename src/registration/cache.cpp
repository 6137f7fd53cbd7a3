#include "registration/cache.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>

namespace hocket::registration {

Limits Limits::of_this_process() noexcept {
  rlimit locked{};
  getrlimit(RLIMIT_MEMLOCK, &locked);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  Limits limits;
  if (locked.rlim_cur != RLIM_INFINITY) limits.bytes = locked.rlim_cur / 4;
  if (pages > 0 && page > 0)
    limits.bytes =
        std::min(limits.bytes, static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 4);
  return limits;
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  end();
  cache_ = other.cache_;
  entry_ = std::exchange(other.entry_, nullptr);
  return *this;
}

void Lease::end() noexcept {
  if (Entry* const entry = std::exchange(entry_, nullptr)) cache_->leave(*entry);
}

Cache::Cache(Backend& backend, std::unique_ptr<Watch> watch, const Limits& limits)
    : backend_(backend), watch_(std::move(watch)), limits_(limits) {}

Cache::~Cache() {
  if (mark_.is_in_child()) return;
  drop_overlapping(all_memory);
}

/// A lock that another thread held when it forked is never free in the child.
Lease Cache::lease(const void* address, std::size_t bytes) noexcept {
  if (bytes == 0 || mark_.is_in_child()) return {};
  const Pages wanted = pages_of(address, bytes);
  const std::lock_guard lock(mutex_);
  take_changes();
  Entry* entry = covering(wanted);
  ++(entry ? counters_.hits : counters_.misses);
  try {
    if (!entry) entry = make(wanted);
  } catch (const std::bad_alloc&) {
    entry = nullptr;
  }
  if (!entry) {
    ++counters_.failures;
    return {};
  }
  use(*entry);
  return {*this, *entry};
}

Counters Cache::counters() const noexcept {
  if (mark_.is_in_child()) return {};
  const std::lock_guard lock(mutex_);
  return counters_;
}

Cache::Tree::iterator Cache::first_overlapping(const Pages& pages) noexcept {
  auto place = tree_.upper_bound(pages.begin);
  if (place != tree_.begin() && std::prev(place)->second->pages.overlaps(pages)) --place;
  return place != tree_.end() && place->second->pages.overlaps(pages) ? place : tree_.end();
}

Entry* Cache::covering(const Pages& wanted) noexcept {
  const auto place = first_overlapping(wanted);
  return place != tree_.end() && place->second->pages.covers(wanted) ? place->second : nullptr;
}

/// All that overlaps goes first: what is pinned twice counts twice. Another thread may unmap its part of what
/// is registered together, so that it fails: the buffer alone is still there.
Entry* Cache::make(const Pages& wanted) {
  const Pages whole = with_overlapping(wanted);
  drop_overlapping(wanted);
  Entry* entry = nullptr;
  if (whole != wanted && watch_->begin(whole)) entry = registered(whole, true);
  if (!entry) entry = registered(wanted, watch_ && watch_->begin(wanted));
  return entry;
}

Pages Cache::with_overlapping(const Pages& wanted) noexcept {
  Pages whole = wanted;
  for (auto place = first_overlapping(wanted); place != tree_.end() && place->second->pages.overlaps(wanted);
       ++place)
    whole = both(whole, place->second->pages);
  return whole.bytes() <= limits_.bytes ? whole : wanted;
}

Entry* Cache::registered(const Pages& pages, bool is_watched) {
  const bool has_room = make_room(pages.bytes());
  const bool is_kept = is_watched && has_room;
  if (is_watched && !is_kept) watch_->end(pages);
  std::list<Entry> made(1);
  Entry& entry = made.front();
  entry.pages = pages;
  entry.self = made.begin();
  const auto place = is_kept ? tree_.emplace(pages.begin, &entry).first : tree_.end();
  entry.handle = handle_for(pages);
  if (!entry.handle) {
    if (is_kept) {
      tree_.erase(place);
      watch_->end(pages);
    }
    return nullptr;
  }
  entry.is_kept = is_kept;
  idle_.splice(idle_.end(), made);
  ++counters_.entries;
  counters_.pinned_bytes += pages.bytes();
  return &entry;
}

/// What is kept for nobody may be what is in the way.
void* Cache::handle_for(const Pages& pages) noexcept {
  void* const address = reinterpret_cast<void*>(pages.begin);  // NOLINT(performance-no-int-to-ptr)
  if (void* const handle = backend_.register_memory(address, pages.bytes())) return handle;
  if (!evict_oldest()) return nullptr;
  while (evict_oldest()) {
  }
  return backend_.register_memory(address, pages.bytes());
}

void Cache::use(Entry& entry) noexcept {
  if (entry.leases++ == 0) busy_.splice(busy_.end(), idle_, entry.self);
}

void Cache::leave(Entry& entry) noexcept {
  if (mark_.is_in_child()) return;
  const std::lock_guard lock(mutex_);
  if (--entry.leases > 0) return;
  idle_.splice(idle_.end(), busy_, entry.self);
  if (!entry.is_kept) forget(entry);
}

void Cache::take_changes() noexcept {
  if (!watch_) return;
  for (const Pages& changed : watch_->changes()) counters_.invalidations += drop_overlapping(changed);
}

std::size_t Cache::drop_overlapping(const Pages& pages) noexcept {
  std::size_t dropped = 0;
  for (auto place = first_overlapping(pages); place != tree_.end() && place->second->pages.overlaps(pages);
       ++dropped)
    place = drop(place);
  return dropped;
}

/// Nobody finds it any more; who uses it goes on.
Cache::Tree::iterator Cache::drop(Tree::iterator place) noexcept {
  Entry& entry = *place->second;
  watch_->end(entry.pages);
  entry.is_kept = false;
  if (entry.leases == 0) forget(entry);
  return tree_.erase(place);
}

bool Cache::evict_oldest() noexcept {
  if (idle_.empty()) return false;
  ++counters_.evictions;
  drop(tree_.find(idle_.front().pages.begin));
  return true;
}

/// False: what is in use leaves none.
bool Cache::make_room(std::size_t bytes) noexcept {
  const auto has_room = [&] {
    return tree_.size() < limits_.entries && bytes <= limits_.bytes &&
           counters_.pinned_bytes <= limits_.bytes - bytes;
  };
  if (bytes > limits_.bytes) return false;
  while (!has_room() && evict_oldest()) {
  }
  return has_room();
}

void Cache::forget(Entry& entry) noexcept {
  backend_.forget_memory(entry.handle);
  --counters_.entries;
  counters_.pinned_bytes -= entry.pages.bytes();
  idle_.erase(entry.self);
}

}  // namespace hocket::registration
