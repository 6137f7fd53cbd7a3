// Whole pages of memory: what is pinned, and what the kernel speaks of.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hocket::registration {

struct Pages {
  std::uintptr_t begin = 0, end = 0;

  std::size_t bytes() const noexcept { return end - begin; }
  bool covers(const Pages& other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool overlaps(const Pages& other) const noexcept { return begin < other.end && other.begin < end; }
  bool operator==(const Pages&) const = default;
};

inline constexpr Pages all_memory{0, UINTPTR_MAX};

/// Those that a buffer has a byte in.
inline Pages pages_of(const void* address, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  return {first / page * page, (first + bytes + page - 1) / page * page};
}

inline Pages both(const Pages& one, const Pages& other) noexcept {
  return {std::min(one.begin, other.begin), std::max(one.end, other.end)};
}

}  // namespace hocket::registration
