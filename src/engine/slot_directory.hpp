// Finds and makes slots in the arena. The entries of the directory are the only truth: free space is what no
// entry claims, so that a rank that dies half-way leaves nothing inconsistent behind.
//
// Programs make and free communicators of the same size again and again. Freed slots therefore stay for a
// while with their pages, which every process has mapped already: page faults and fresh pages cost several
// times what clearing the memory does, which in turn is the most expensive part of handing it out again.
#pragma once

#include <mutex>
#include <vector>

#include "engine/arena.hpp"
#include "engine/arena_memory.hpp"

namespace hocket::engine {

class SlotDirectory {
 public:
  SlotDirectory(const ArenaMemory& memory, int local_rank);

  Slot carve(const SlotKey& key, std::size_t bytes, int users, Content content = Content::zeros);
  void release(const SlotKey& key);

 private:
  class Lock;
  struct Range {
    std::size_t begin, end;
  };

  SlotEntry* find(const SlotKey& key) const;
  SlotEntry* unused_for(const SlotKey& key) const;
  SlotEntry* blank(const SlotKey& key, std::size_t bytes, int users);
  SlotEntry* make(const SlotKey& key, std::size_t bytes, int users, Content content);
  bool reuse(SlotEntry& entry, std::size_t pages, Content content);
  bool claim(SlotEntry& entry, std::size_t pages);
  bool place(std::size_t bytes, std::size_t& offset);
  bool fits(std::size_t offset, std::size_t bytes) const;
  bool can_spare(std::size_t bytes) const;

  void keep(SlotEntry& entry);
  void give_back(SlotEntry& entry);
  bool give_back_idle();
  void write_off_idle();
  void remove(SlotEntry& entry);

  std::size_t index_of(const SlotEntry& entry) const;
  std::byte* memory_of(const SlotEntry& entry) const;

  const ArenaMemory& memory_;
  std::uint32_t owner_;        ///< what this process writes into the lock word
  std::mutex mutex_;           ///< among this process's threads
  std::vector<Range> ranges_;  ///< scratch of place()
};

}  // namespace hocket::engine
