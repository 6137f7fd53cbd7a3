#include "engine/slot_directory.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/arena_membership.hpp"

namespace hocket::engine {
namespace {

/// The entries beyond are for denials, which have to be remembered too: all users must hear the same.
constexpr std::size_t most_live_slots = slot_entries / 4 * 3;

std::size_t start_of(const SlotKey& key) {
  std::uint64_t hash = key.origin * 0x9e3779b97f4a7c15u ^ key.members * 0xc2b2ae3d27d4eb4fu ^ key.part;
  hash ^= hash >> 29;
  return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15u >> 40) % slot_entries;
}

bool holds(const SlotEntry& entry, const SlotKey& key) {
  return (entry.state == SlotState::live || entry.state == SlotState::denied) && entry.origin == key.origin &&
         entry.members == key.members && entry.part == key.part;
}

void doze() {
  const timespec moment{0, 50'000};
  nanosleep(&moment, nullptr);
}

}  // namespace

/// A word in the arena rather than a record lock: it still works when the program has closed our descriptor.
/// Whoever waits long looks whether the owner lives, and takes over from the dead.
class SlotDirectory::Lock {
 public:
  explicit Lock(SlotDirectory& directory)
      : threads_(directory.mutex_), memory_(directory.memory_), word_(memory_.header().directory_owner) {
    Deadline patience(0.1);
    for (int tries = 0; !take(0, directory.owner_); ++tries) {
      tries < 100 ? static_cast<void>(sched_yield()) : doze();
      if (!patience.passed()) continue;
      inherit(directory.owner_);
      if (word_.load(std::memory_order_relaxed) == directory.owner_) break;
      patience = Deadline(0.1);
    }
  }
  ~Lock() { word_.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;

 private:
  bool take(std::uint32_t from, std::uint32_t to) {
    return word_.compare_exchange_strong(from, to, std::memory_order_acquire);
  }
  void inherit(std::uint32_t heir) {
    const std::uint32_t owner = word_.load(std::memory_order_acquire);
    if (owner != 0 && !is_alive(memory_, owner - 1)) take(owner, heir);
  }

  std::lock_guard<std::mutex> threads_;
  const ArenaMemory& memory_;
  std::atomic<std::uint32_t>& word_;
};

SlotDirectory::SlotDirectory(const ArenaMemory& memory, int local_rank)
    : memory_(memory), owner_(static_cast<std::uint32_t>(local_rank) + 1) {}

SlotEntry* SlotDirectory::find(const SlotKey& key) const {
  SlotEntry* const entries = memory_.directory();
  for (std::size_t i = 0, at = start_of(key); i < slot_entries; ++i, at = (at + 1) % slot_entries) {
    if (holds(entries[at], key)) return &entries[at];
    if (entries[at].state == SlotState::unused) return nullptr;
  }
  return nullptr;
}

SlotEntry* SlotDirectory::unused_for(const SlotKey& key) const {
  SlotEntry* const entries = memory_.directory();
  for (std::size_t i = 0, at = start_of(key); i < slot_entries; ++i, at = (at + 1) % slot_entries)
    if (entries[at].state == SlotState::unused || entries[at].state == SlotState::removed)
      return &entries[at];
  return nullptr;
}

/// First fit: the lowest gap that is large enough.
bool SlotDirectory::place(std::size_t bytes, std::size_t& offset) {
  ranges_.clear();
  for (std::size_t i = 0; i < slot_entries; ++i)
    if (const SlotEntry& entry = memory_.directory()[i]; entry.state == SlotState::live)
      ranges_.push_back({entry.offset, entry.offset + whole_pages(entry.bytes)});
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  offset = 0;
  for (const Range& range : ranges_) {
    if (range.begin - offset >= bytes) break;
    offset = range.end;
  }
  if (ranges_.size() > most_live_slots) return false;
  return bytes <= memory_.header().budget && offset <= memory_.header().budget - bytes;
}

SlotEntry* SlotDirectory::make(const SlotKey& key, std::size_t bytes, int users) {
  SlotEntry* const entry = unused_for(key);
  if (!entry) return nullptr;
  const std::size_t pages = whole_pages(bytes);
  std::size_t offset = 0;
  const bool placed = pages >= bytes && place(pages, offset);
  const bool granted = placed && memory_.reserve(memory_.slots() + offset, pages);
  if (placed && !granted) memory_.discard(memory_.slots() + offset, pages);  // a part may have been reserved
  entry->part = key.part;
  entry->origin = key.origin;
  entry->members = key.members;
  entry->offset = offset;
  entry->bytes = bytes;
  entry->users = static_cast<std::uint32_t>(users);
  entry->arrived = 0;
  entry->released = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry->state = granted ? SlotState::live : SlotState::denied;  // last: from here on it counts
  if (granted) memory_.header().used.fetch_add(pages, std::memory_order_relaxed);
  return entry;
}

Slot SlotDirectory::carve(const SlotKey& key, std::size_t bytes, int users) {
  bytes = std::max<std::size_t>(bytes, 1);
  const Lock lock(*this);
  SlotEntry* entry = find(key);
  if (!entry) entry = make(key, bytes, users);
  if (!entry) return {};  // the directory is full
  if (entry->bytes != bytes || entry->users != static_cast<std::uint32_t>(users))
    throw Error("the members of a communicator ask for slots of different sizes: " +
                std::to_string(entry->bytes) + " and " + std::to_string(bytes) + " bytes");
  ++entry->arrived;
  if (entry->state == SlotState::live) return {memory_.slots() + entry->offset, bytes};
  if (entry->arrived == entry->users) remove(*entry);  // all have been told
  return {};
}

void SlotDirectory::release(const SlotKey& key) {
  const Lock lock(*this);
  SlotEntry* const entry = find(key);
  if (!entry || entry->state != SlotState::live || ++entry->released < entry->users) return;
  const std::size_t pages = whole_pages(entry->bytes);
  memory_.discard(memory_.slots() + entry->offset, pages);
  memory_.header().used.fetch_sub(pages, std::memory_order_relaxed);
  remove(*entry);
}

/// Marks of removed entries that end a run of entries are cleared, so that searches stay short.
void SlotDirectory::remove(SlotEntry& entry) {
  SlotEntry* const entries = memory_.directory();
  entry.state = SlotState::removed;
  std::size_t at = static_cast<std::size_t>(&entry - entries);
  if (entries[(at + 1) % slot_entries].state != SlotState::unused) return;
  while (entries[at].state == SlotState::removed) {
    entries[at].state = SlotState::unused;
    at = (at + slot_entries - 1) % slot_entries;
  }
}

}  // namespace hocket::engine
