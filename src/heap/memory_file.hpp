// A file of memory that others may map, inside of somebody else's program: out of the way of low numbers, and
// not believed blindly, since programs exist that close every descriptor that they do not know.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace hocket::heap {

class MemoryFile {
 public:
  constexpr MemoryFile() = default;

  /// Of so many bytes, none of which are used yet, and sealed: whoever maps it may touch all of it. False:
  /// there cannot be one, or not in a way in which touching it always works (a limit of file sizes, or the
  /// system counts memory when it is touched and not before).
  bool open(std::size_t bytes) noexcept;
  /// It is there, and its descriptor is still its own.
  bool is_intact() const noexcept;
  int number() const noexcept { return number_; }
  dev_t device() const noexcept { return device_; }
  ino_t inode() const noexcept { return inode_; }
  /// Bytes that are memory now. 0: not known.
  std::size_t used_bytes() const noexcept;
  void close() noexcept;

 private:
  bool make(std::size_t bytes) noexcept;

  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// What the system could still give out. 0: not known.
std::size_t free_memory() noexcept;

}  // namespace hocket::heap
