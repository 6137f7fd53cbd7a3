#include "switch/groups/backlog.hpp"

#include <algorithm>

namespace hocket::aggregation {

namespace {

/// Long enough to be worth a call of a kernel, short enough for a cache.
constexpr std::size_t longest_chunk = std::size_t{16} << 10U;

/// In whole elements.
std::size_t room_in(const std::vector<std::byte>& chunk, std::size_t unit) noexcept {
  return (chunk.capacity() - chunk.size()) / unit * unit;
}

}  // namespace

void Backlog::add(std::span<const std::byte> data, std::size_t unit, std::size_t still) {
  while (!data.empty()) {
    if (chunks_.empty() || room_in(chunks_.back(), unit) == 0)
      chunks_.emplace_back().reserve(std::min(longest_chunk, still));
    std::vector<std::byte>& chunk = chunks_.back();
    const std::size_t bytes = std::min(data.size(), room_in(chunk, unit));
    chunk.insert(chunk.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(bytes));
    data = data.subspan(bytes);
    still -= bytes;
  }
}

std::span<const std::byte> Backlog::front() const noexcept {
  return chunks_.empty() ? std::span<const std::byte>() : std::span(chunks_.front()).subspan(dropped_);
}

void Backlog::drop(std::size_t bytes) noexcept {
  dropped_ += bytes;
  if (dropped_ < chunks_.front().size()) return;
  chunks_.pop_front();
  dropped_ = 0;
}

}  // namespace hocket::aggregation
