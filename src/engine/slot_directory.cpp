#include "engine/slot_directory.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/arena_membership.hpp"

namespace hocket::engine {
namespace {

/// The entries beyond are for denials, which have to be remembered too: all users must hear the same.
constexpr std::size_t most_live_slots = slot_entries / 4 * 3;

/// What a program that frees its communicators may lack in the end.
constexpr std::size_t most_idle_bytes = std::size_t{32} << 20;

std::size_t start_of(const SlotKey& key) {
  std::uint64_t hash = key.origin * 0x9e3779b97f4a7c15u ^ key.members * 0xc2b2ae3d27d4eb4fu ^ key.part;
  hash ^= hash >> 29;
  return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15u >> 40) % slot_entries;
}

bool holds(const SlotEntry& entry, const SlotKey& key) {
  return (entry.state == SlotState::live || entry.state == SlotState::denied) && entry.origin == key.origin &&
         entry.members == key.members && entry.part == key.part;
}

bool claims_memory(const SlotEntry& entry) {
  return entry.state == SlotState::live || entry.state == SlotState::idle || entry.state == SlotState::lost;
}

/// What was written before counts before what is written next, also if the process dies between the two.
void in_this_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void doze() {
  sleep_ns(50'000);
}

}  // namespace

/// A word in the arena rather than a record lock: it still works when the program has closed our descriptor.
/// Whoever waits long looks whether the owner lives, and takes over from the dead.
class SlotDirectory::Lock {
 public:
  explicit Lock(SlotDirectory& directory)
      : threads_(directory.mutex_), memory_(directory.memory_), word_(memory_.header().directory_owner) {
    if (take(0, directory.owner_) || !wait(directory.owner_)) return;
    directory.write_off_idle();
  }
  ~Lock() { word_.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;

 private:
  bool take(std::uint32_t from, std::uint32_t to) {
    return word_.compare_exchange_strong(from, to, std::memory_order_acquire);
  }
  /// True: taken from a dead owner, who may have left a change unfinished.
  bool wait(std::uint32_t owner) {
    Deadline patience(0.1);
    for (int tries = 0; !take(0, owner); ++tries) {
      tries < 100 ? static_cast<void>(sched_yield()) : doze();
      if (!patience.passed()) continue;
      if (inherit(owner)) return true;
      patience = Deadline(0.1);
    }
    return false;
  }
  bool inherit(std::uint32_t heir) {
    const std::uint32_t owner = word_.load(std::memory_order_acquire);
    return owner != 0 && !is_alive(memory_, owner - 1) && take(owner, heir);
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

std::size_t SlotDirectory::index_of(const SlotEntry& entry) const {
  return static_cast<std::size_t>(&entry - memory_.directory());
}

std::byte* SlotDirectory::memory_of(const SlotEntry& entry) const {
  return memory_.slots() + entry.offset;
}

bool SlotDirectory::fits(std::size_t offset, std::size_t bytes) const {
  const std::size_t budget = memory_.header().budget;
  return ranges_.size() <= most_live_slots && bytes <= budget && offset <= budget - bytes;
}

/// What others cannot do without is left to them: half of the memory, and half of the slots.
bool SlotDirectory::can_spare(std::size_t bytes) const {
  std::size_t live = 0;
  memory_.header().occupancy.for_each([&](std::size_t index) {
    if (memory_.directory()[index].state == SlotState::live) ++live;
  });
  return live < most_live_slots / 2 &&
         memory_.header().used.load(std::memory_order_relaxed) + bytes <= memory_.header().budget / 2;
}

/// First fit: the lowest gap that is large enough.
bool SlotDirectory::place(std::size_t bytes, std::size_t& offset) {
  ranges_.clear();
  memory_.header().occupancy.for_each([&](std::size_t index) {
    if (const SlotEntry& entry = memory_.directory()[index]; claims_memory(entry))
      ranges_.push_back({entry.offset, entry.offset + whole_pages(entry.bytes)});
  });
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  offset = 0;
  for (const Range& range : ranges_) {
    if (range.begin >= offset && range.begin - offset >= bytes) break;
    offset = std::max(offset, range.end);
  }
  return fits(offset, bytes);
}

/// Gives the entry memory that no other entry claims.
bool SlotDirectory::claim(SlotEntry& entry, std::size_t pages) {
  std::size_t offset = 0;
  if (!place(pages, offset)) return false;
  entry.offset = offset;
  if (!memory_.reserve(memory_of(entry), pages)) {
    memory_.discard(memory_of(entry), pages);  // a part may have been reserved
    return false;
  }
  memory_.header().occupancy.set(index_of(entry));
  in_this_order();
  entry.state = SlotState::live;
  return true;
}

/// Gives the entry the memory of an idle one, which it replaces: for a moment both claim it.
bool SlotDirectory::reuse(SlotEntry& entry, std::size_t pages, Content content) {
  const std::uint32_t found = memory_.header().idle.take(pages / arena_page);
  if (found == IdleList::none) return false;
  SlotEntry& idle = memory_.directory()[found];
  entry.offset = idle.offset;
  if (content != Content::anything) std::memset(memory_of(entry), 0, entry.bytes);
  memory_.header().occupancy.set(index_of(entry));
  in_this_order();
  entry.state = SlotState::live;
  in_this_order();
  remove(idle);
  return true;
}

/// It counts once its state says so; until then no other entry may be removed, which might shorten the run of
/// entries that leads to it.
SlotEntry* SlotDirectory::blank(const SlotKey& key, std::size_t bytes, int users) {
  SlotEntry* const entry = unused_for(key);
  if (!entry) return nullptr;
  entry->part = key.part;
  entry->origin = key.origin;
  entry->members = key.members;
  entry->bytes = bytes;
  entry->users = static_cast<std::uint32_t>(users);
  entry->arrived = 0;
  entry->released = 0;
  return entry;
}

SlotEntry* SlotDirectory::make(const SlotKey& key, std::size_t bytes, int users, Content content) {
  const std::size_t pages = whole_pages(bytes);
  const bool is_spare = content == Content::spare;
  const bool possible = pages >= bytes && (!is_spare || can_spare(pages));
  SlotEntry* entry = blank(key, bytes, users);
  bool granted = entry && possible && (reuse(*entry, pages, content) || claim(*entry, pages));
  if (!granted && possible && !is_spare && give_back_idle()) {
    entry = blank(key, bytes, users);
    granted = entry && claim(*entry, pages);
  }
  if (granted)
    memory_.header().used.fetch_add(pages, std::memory_order_relaxed);
  else if (entry)
    entry->state = SlotState::denied;
  return entry;
}

Slot SlotDirectory::carve(const SlotKey& key, std::size_t bytes, int users, Content content) {
  bytes = std::max<std::size_t>(bytes, 1);
  const Lock lock(*this);
  SlotEntry* entry = find(key);
  if (!entry) entry = make(key, bytes, users, content);
  if (!entry) return {};  // the directory is full
  if (entry->bytes != bytes || entry->users != static_cast<std::uint32_t>(users))
    throw Error("the members of a communicator ask for slots of different sizes: " +
                std::to_string(entry->bytes) + " and " + std::to_string(bytes) + " bytes");
  ++entry->arrived;
  if (entry->state == SlotState::live) return {memory_of(*entry), bytes};
  if (entry->arrived == entry->users) remove(*entry);  // all have been told
  return {};
}

void SlotDirectory::release(const SlotKey& key) {
  const Lock lock(*this);
  SlotEntry* const entry = find(key);
  if (!entry || entry->state != SlotState::live || ++entry->released < entry->users) return;
  memory_.header().used.fetch_sub(whole_pages(entry->bytes), std::memory_order_relaxed);
  keep(*entry);
}

/// The oldest make room for the youngest.
void SlotDirectory::keep(SlotEntry& entry) {
  IdleList& idle = memory_.header().idle;
  const std::size_t pages = whole_pages(entry.bytes) / arena_page;
  constexpr std::size_t most = most_idle_bytes / arena_page;
  if (pages > most) return give_back(entry);
  while (idle.full() || idle.pages() + pages > most) give_back(memory_.directory()[idle.take_oldest()]);
  entry.state = SlotState::idle;
  idle.add(static_cast<std::uint32_t>(index_of(entry)), static_cast<std::uint32_t>(pages));
}

void SlotDirectory::give_back(SlotEntry& entry) {
  memory_.discard(memory_of(entry), whole_pages(entry.bytes));
  in_this_order();
  remove(entry);
}

/// False: there was none.
bool SlotDirectory::give_back_idle() {
  IdleList& idle = memory_.header().idle;
  if (idle.empty()) return false;
  while (!idle.empty()) give_back(memory_.directory()[idle.take_oldest()]);
  return true;
}

/// After a death in the middle of a change: an idle entry may be one that a live one has just replaced, or
/// have lost its pages. Neither can be told from looking at it.
void SlotDirectory::write_off_idle() {
  memory_.header().occupancy.for_each([&](std::size_t index) {
    SlotEntry& entry = memory_.directory()[index];
    if (entry.state == SlotState::idle) entry.state = SlotState::lost;
  });
  memory_.header().idle.clear();
}

/// Marks of removed entries that end a run of entries are cleared, so that searches stay short.
void SlotDirectory::remove(SlotEntry& entry) {
  SlotEntry* const entries = memory_.directory();
  std::size_t at = index_of(entry);
  entry.state = SlotState::removed;
  in_this_order();
  memory_.header().occupancy.clear(at);
  if (entries[(at + 1) % slot_entries].state != SlotState::unused) return;
  while (entries[at].state == SlotState::removed) {
    entries[at].state = SlotState::unused;
    at = (at + slot_entries - 1) % slot_entries;
  }
}

}  // namespace hocket::engine
