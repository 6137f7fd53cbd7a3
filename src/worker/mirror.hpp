// Memory of a rank as its worker has it: a copy without the gaps between the blocks, read before an operation
// and written back after it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executors/operation.hpp"

namespace hocket::worker {

/// Where a buffer is in the rank, and where in the mirror.
class View {
 public:
  View() = default;
  /// One run of bytes; 0: nothing.
  View(const void* address, std::size_t bytes);
  /// One block per rank.
  View(const void* address, const executors::Blocks& blocks, std::size_t ranks);

  std::size_t bytes() const noexcept { return bytes_; }
  /// Of the blocks in the mirror, for Blocks::offsets.
  const std::vector<std::ptrdiff_t>& offsets() const noexcept { return offsets_; }

  /// 0, or the errno of what has failed. Whether there is such memory, as its ends tell.
  int probe(pid_t process) const noexcept;
  int read(pid_t process, std::byte* mirror) const noexcept;
  int write(pid_t process, std::byte* mirror) const noexcept;

 private:
  struct Run {
    std::uint64_t address;
    std::size_t bytes;
  };
  void add(std::uint64_t address, std::size_t bytes);
  template <class Move>
  int move_all(std::byte* mirror, Move move) const noexcept;

  std::vector<Run> runs_;  ///< one after the other in the mirror
  std::size_t bytes_ = 0;
  std::vector<std::ptrdiff_t> offsets_;
};

}  // namespace hocket::worker
