// The arena's memfd and its mapping: one range of addresses for the whole budget, pages only where they were
// reserved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "engine/arena_layout.hpp"

namespace hocket::engine {

/// For ranks that are to attach: what stops them from creating a memfd (a sandbox) stops local rank 0 as
/// well, and then nobody needs to wait for its arena. Throws Error.
void require_memfd();

class ArenaMemory {
 public:
  ArenaMemory() = default;
  ArenaMemory(ArenaMemory&& other) noexcept { *this = static_cast<ArenaMemory&&>(other); }
  ArenaMemory& operator=(ArenaMemory&& other) noexcept;
  ~ArenaMemory();

  /// Local rank 0: a new one, with header, entries and directory reserved and zero. Throws Error.
  static ArenaMemory create(const std::string& name, std::size_t local_size, std::size_t budget);
  /// The others: from a descriptor, which is taken over. Throws Error for what cannot be an arena.
  static ArenaMemory attach(Descriptor file);

  explicit operator bool() const { return base_ != nullptr; }
  int file() const { return file_.number(); }
  bool file_intact() const { return file_.intact(); }

  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(base_); }
  std::size_t local_size() const { return header().local_size; }
  RankEntry& entry(std::size_t local_rank) const;
  SlotEntry* directory() const;
  std::byte* slots() const { return base_ + slots_offset(local_size()); }

  /// Makes sure that pages are there (a later touch never ends in SIGBUS). False: the system has none left.
  bool reserve(std::byte* start, std::size_t bytes) const noexcept;
  /// Gives pages back; what is read there later is zero.
  void discard(std::byte* start, std::size_t bytes) const noexcept;

 private:
  Descriptor file_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hocket::engine
