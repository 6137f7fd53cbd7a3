// Loops for kernels that are bound by memory: 2, 3, 4 and 8 sources have loops of their own, the addresses of
// all sources in registers and one load instruction for each.
//
// That is worth up to a third of the time within the caches: the prefetcher seems to tell streams apart by
// the load instruction. Other numbers of sources are put together from these loops, a tile at a time, with
// the running result in a small buffer. docs/design/0003-kernels.md has the figures.
#pragma once

#include "kernels/reduce/steps.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Tiles stay in the first-level cache; below `tile_minimum` bytes a tile is not worth its overhead.
inline constexpr std::size_t tile_bytes = 4096;
inline constexpr std::size_t tile_minimum = 1024;

template <class K, int Sources>
[[gnu::noinline]] void reduce_unrolled(char* dst, const void* const* src, std::size_t end) noexcept {
  const char* from[Sources];
#pragma GCC unroll 8
  for (int j = 0; j < Sources; ++j) from[j] = static_cast<const char*>(src[j]);
  std::size_t offset = 0;
  for (; end - offset >= K::widest; offset += K::widest) {
    auto result = K::template load<K::widest>(from[0] + offset);
#pragma GCC unroll 8
    for (int j = 1; j < Sources; ++j)
      result = K::template apply<K::widest>(result, K::template load<K::widest>(from[j] + offset));
    K::template store<K::widest>(dst + offset, result);
  }
  if (offset < end) reduce_any<K>(dst, src, Sources, end, offset);
}

using UnrolledFn = void (*)(char* dst, const void* const* src, std::size_t end) noexcept;

// A kernel's loops: what putting them together needs to know, so that the code for it exists only once.
struct Loops {
  UnrolledFn two, three, four, eight;

  UnrolledFn of(int sources) const {
    return sources == 2 ? two : sources == 3 ? three : sources == 4 ? four : eight;
  }
};

// The most sources, up to k, that have a loop of their own.
inline int unrolled_sources(int k) {
  return k >= 8 ? 8 : k >= 4 ? 4 : k;
}

// One tile: src[] at `offset`, as many sources at a time as there is a loop for. Only the last pass writes to
// dst, which may be any of the sources.
inline void reduce_tile(const Loops& loops, const Buffers& b, std::size_t offset,
                        std::size_t bytes) noexcept {
  alignas(64) char running[tile_bytes];
  const void* part[8];
  int taken = unrolled_sources(b.k);
  for (int j = 0; j < taken; ++j) part[j] = b.source(j) + offset;
  loops.of(taken)(running, part, bytes);
  part[0] = running;
  while (taken < b.k) {
    const int sources = unrolled_sources(b.k - taken + 1);
    for (int j = 1; j < sources; ++j) part[j] = b.source(taken + j - 1) + offset;
    taken += sources - 1;
    loops.of(sources)(taken == b.k ? b.dst + offset : running, part, bytes);
  }
}

// k > 4.
[[gnu::noinline]] inline void reduce_tiles(const Loops& loops, const Buffers& b, std::size_t end) noexcept {
  for (std::size_t offset = 0; offset < end; offset += tile_bytes)
    reduce_tile(loops, b, offset, end - offset < tile_bytes ? end - offset : tile_bytes);
}

// k > 2, end >= K::widest.
template <class K>
[[gnu::noinline]] void reduce_streams(char* dst, const void* const* src, int k, std::size_t end) noexcept {
  if (k == 4) return reduce_unrolled<K, 4>(dst, src, end);
  if (k == 8) return reduce_unrolled<K, 8>(dst, src, end);
  if (k == 3) return reduce_unrolled<K, 3>(dst, src, end);
  if (end < tile_minimum) return reduce_any<K>(dst, src, k, end, 0);
  constexpr Loops loops{reduce_unrolled<K, 2>, reduce_unrolled<K, 3>, reduce_unrolled<K, 4>,
                        reduce_unrolled<K, 8>};
  reduce_tiles(loops, Buffers{dst, src, k}, end);
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
