// Memory of a rank as its worker has it: the memory itself, where both map it; else a mirror, which is a copy
// without the gaps between the blocks, read before its data are sent and written back when they have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "executors/binding.hpp"
#include "executors/operation.hpp"
#include "worker/rank_process.hpp"

namespace hocket::worker {

/// Called between the pieces of what takes long, to show that this process is not in a loop.
using Beat = std::function<void()>;

/// Where a buffer is in the rank, and where here.
class View {
 public:
  View() = default;
  /// One run of bytes; 0: nothing.
  View(const void* address, std::size_t bytes);
  /// One block per rank.
  View(const void* address, const executors::Blocks& blocks, std::size_t ranks);

  /// It is the memory itself from now on, if that can be had, and no byte of it belongs to two blocks.
  void map(const RankProcess& process);
  bool is_mapped() const noexcept { return range_ != nullptr; }

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t mirror_bytes() const noexcept { return is_mapped() ? 0 : bytes_; }
  /// Of the blocks from data(), for Blocks::offsets.
  const std::vector<std::ptrdiff_t>& offsets() const noexcept { return offsets_; }
  /// Where the buffer begins here.
  std::byte* data(std::byte* mirror) const noexcept { return is_mapped() ? range_->here(address_) : mirror; }
  /// Whether those bytes are its own; `mirror`: all of it.
  bool holds(const std::byte* data, std::size_t bytes, std::span<const std::byte> mirror) const noexcept;
  /// Nothing between their first and last bytes belongs to both.
  bool is_apart_from(const View& other) const noexcept;

  // 0, or the errno of what has failed. Of mapped memory there is nothing to do.
  /// Whether there is such memory, as its ends tell.
  int probe(RankProcess& process) const noexcept;
  int read(RankProcess& process, std::byte* mirror, const Beat& beat) const noexcept;
  int write(RankProcess& process, std::byte* mirror, const Beat& beat) const noexcept;
  /// Those bytes of the vector, or of every block.
  int read(RankProcess& process, std::byte* mirror, executors::Segment part) const noexcept;
  int write(RankProcess& process, std::byte* mirror, executors::Segment part) const noexcept;

 private:
  struct Run {
    std::uint64_t address;
    std::size_t bytes;
    std::uint64_t end() const noexcept { return address + bytes; }
  };
  void add(std::uint64_t address, std::size_t bytes);
  template <class Move>
  int move_all(std::byte* mirror, const Beat& beat, Move move) const noexcept;
  template <class Move>
  int move_part(std::byte* mirror, executors::Segment part, Move move) const noexcept;

  std::uint64_t address_ = 0;  ///< in the rank, from where its offsets count
  std::vector<Run> runs_;      ///< one after the other in the mirror; of a mapped view by address
  std::size_t bytes_ = 0;
  std::vector<std::ptrdiff_t> offsets_, own_offsets_;  ///< as used here, and as the rank has them
  RankProcess::Range range_;
};

}  // namespace hocket::worker
