// memcpy, less one trap of the machine's: from 4 KiB on the C library copies by `rep movsb`, which AMD's Zen
// 3 and 4 run at a tenth of its rate where the target begins 1 to 31 bytes farther into its page than the
// source into its own (glibc bug 30994). A large buffer from malloc begins 16 bytes into a page, and much
// else, as memory that processes share, where one begins. Pieces that are too short for `rep movsb` are
// copied by vectors. Figures are in docs/design/0003-kernels.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hocket {

namespace detail {

/// Below what any glibc copies by `rep movsb`, in whole lines.
inline constexpr std::size_t copied_by_vectors = 31 * 64;

inline bool is_behind_in_page(const void* to, const void* from) noexcept {
  const auto behind = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  return behind % 4096 - 1 < 31;
}

inline void copy_pieces(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  std::size_t piece = copied_by_vectors;
  asm volatile("" : "+r"(piece));  // or the compiler, which knows the length, makes a `rep movsq` of it
  for (; bytes > piece; bytes -= piece) {
    std::memcpy(target, source, piece);
    target += piece;
    source += piece;
  }
  std::memcpy(target, source, bytes);
}

}  // namespace detail

/// The two do not overlap.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (bytes > detail::copied_by_vectors && detail::is_behind_in_page(to, from)) [[unlikely]]
    return detail::copy_pieces(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace hocket
