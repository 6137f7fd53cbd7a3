// Finds and makes slots in the arena. The entries of the directory are the only truth: free space is what no
// entry claims, so that a rank that dies half-way leaves nothing inconsistent behind.
#pragma once

#include <mutex>
#include <vector>

#include "engine/arena.hpp"
#include "engine/arena_memory.hpp"

namespace hocket::engine {

class SlotDirectory {
 public:
  SlotDirectory(const ArenaMemory& memory, int local_rank);

  Slot carve(const SlotKey& key, std::size_t bytes, int users);
  void release(const SlotKey& key);

 private:
  class Lock;
  struct Range {
    std::size_t begin, end;
  };

  SlotEntry* find(const SlotKey& key) const;
  SlotEntry* make(const SlotKey& key, std::size_t bytes, int users);
  SlotEntry* unused_for(const SlotKey& key) const;
  bool place(std::size_t bytes, std::size_t& offset);
  void remove(SlotEntry& entry);

  const ArenaMemory& memory_;
  std::uint32_t owner_;        ///< what this process writes into the lock word
  std::mutex mutex_;           ///< among this process's threads
  std::vector<Range> ranges_;  ///< scratch of place()
};

}  // namespace hocket::engine
