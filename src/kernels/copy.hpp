// Copying bytes on the run path: small blocks in a few moves of their own, the rest by the C library, which
// knows the processor; and a variant that leaves the caches alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy.hpp"

namespace hocket::kernels {

namespace detail {

struct SixteenBytes {
  std::uint64_t words[2];
};

template <class T>
inline void move_ends(char* dst, const char* src, std::size_t bytes) noexcept {
  T first;
  T last;
  std::memcpy(&first, src, sizeof(T));
  std::memcpy(&last, src + bytes - sizeof(T), sizeof(T));
  std::memcpy(dst, &first, sizeof(T));
  std::memcpy(dst + bytes - sizeof(T), &last, sizeof(T));
}

}  // namespace detail

// Largest block that copy() does not hand to the C library.
inline constexpr std::size_t inline_copy_limit = 32;

// src and dst are the same or do not overlap.
inline void copy(void* dst, const void* src, std::size_t bytes) noexcept {
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  if (bytes > inline_copy_limit) {
    if (dst != src) copy_bytes(dst, src, bytes);
  } else if (bytes > 16) {
    detail::move_ends<detail::SixteenBytes>(to, from, bytes);
  } else if (bytes >= 8) {
    detail::move_ends<std::uint64_t>(to, from, bytes);
  } else if (bytes >= 4) {
    detail::move_ends<std::uint32_t>(to, from, bytes);
  } else if (bytes >= 2) {
    detail::move_ends<std::uint16_t>(to, from, bytes);
  } else if (bytes == 1) {
    *to = *from;
  }
}

// Writes past the caches from this many bytes on; less is copy(). For data that nobody reads soon: whoever
// does fetches it from memory. Measured (docs/design/0003-kernels.md): a fifth to a third faster from 1 MiB
// on, slower below.
inline constexpr std::size_t streaming_copy_minimum = std::size_t{1} << 20;
void copy_streaming(void* dst, const void* src, std::size_t bytes) noexcept;

}  // namespace hocket::kernels
