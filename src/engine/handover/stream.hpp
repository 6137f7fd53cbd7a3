// A stream of bytes from a rank to the worker of its node, in memory that both map: one writer, one reader.
// Longer records than fit go through it in parts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hocket::engine::handover {

struct StreamMemory {
  static constexpr std::size_t capacity = std::size_t{64} << 10U;

  alignas(64) std::atomic<std::uint64_t> written;  ///< bytes since the beginning
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::array<std::byte, capacity> data;
};

namespace detail {
/// The one or two runs of the ring behind `position`.
template <class Copy>
void in_runs(std::uint64_t position, std::size_t bytes, Copy copy) noexcept {
  const std::size_t start = position % StreamMemory::capacity;
  const std::size_t first = std::min(bytes, StreamMemory::capacity - start);
  copy(start, std::size_t{0}, first);
  if (bytes > first) copy(std::size_t{0}, first, bytes - first);
}
}  // namespace detail

class StreamWriter {
 public:
  explicit StreamWriter(StreamMemory& memory) noexcept : memory_(memory) {}

  /// Writes as much as there is room for; returns how much that is.
  std::size_t write(std::span<const std::byte> bytes) noexcept {
    const std::uint64_t used = written_ - memory_.read.load(std::memory_order_acquire);
    const std::size_t room = used < StreamMemory::capacity ? StreamMemory::capacity - used : 0;
    const std::size_t count = std::min(room, bytes.size());
    detail::in_runs(written_, count, [&](std::size_t at, std::size_t from, std::size_t length) {
      std::memcpy(memory_.data.data() + at, bytes.data() + from, length);
    });
    written_ += count;
    memory_.written.store(written_, std::memory_order_release);
    return count;
  }

 private:
  StreamMemory& memory_;
  std::uint64_t written_ = 0;
};

/// Believes nothing of what the writer says but its bytes.
class StreamReader {
 public:
  explicit StreamReader(StreamMemory& memory) noexcept : memory_(memory) {}

  /// What is there to be read; more than the capacity: the writer does not keep to the rules.
  std::size_t available() const noexcept {
    return static_cast<std::size_t>(memory_.written.load(std::memory_order_acquire) - read_);
  }
  bool is_broken() const noexcept { return available() > StreamMemory::capacity; }

  /// Reads what is there, and fits; returns how much that is.
  std::size_t read(std::span<std::byte> bytes) noexcept {
    const std::size_t there = available();
    const std::size_t count = there > StreamMemory::capacity ? 0 : std::min(there, bytes.size());
    detail::in_runs(read_, count, [&](std::size_t at, std::size_t to, std::size_t length) {
      std::memcpy(bytes.data() + to, memory_.data.data() + at, length);
    });
    read_ += count;
    memory_.read.store(read_, std::memory_order_release);
    return count;
  }

 private:
  StreamMemory& memory_;
  std::uint64_t read_ = 0;
};

}  // namespace hocket::engine::handover
