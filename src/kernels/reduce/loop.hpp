// The one loop of all reductions: blocks of a few registers, and for each block all sources in turn.
//
// One pass over memory for any number of sources: the running result of a block stays in registers. All loads
// of a block come before its stores, hence dst may be one of the sources. The rest is done in ever narrower
// vectors down to single elements, so that nothing beyond an element is ever read or computed.
//
// A kernel K offers: unit (bytes of an element), widest (bytes of memory per register), unroll,
//   load<B>(pointer), apply<B>(left, right), store<B>(pointer, value) for B = widest, widest / 2 ... unit.
#pragma once

#include "kernels/reduce/vectors.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Narrowest vector worth a step of its own before the single elements.
inline constexpr int narrowest_vector_bytes = 8;

struct Buffers {  // k >= 2
  char* dst;
  const void* const* src;
  int k;

  HOCKET_KERNELS_INLINE const char* source(int j) const { return static_cast<const char*>(src[j]); }
};

template <class K, int Bytes, int Unroll>
HOCKET_KERNELS_INLINE void reduce_block(const Buffers& b, std::size_t offset) {
  decltype(K::template load<Bytes>(b.dst)) acc[Unroll];
  const char* first = b.source(0) + offset;
#pragma GCC unroll 8
  for (int u = 0; u < Unroll; ++u) acc[u] = K::template load<Bytes>(first + u * Bytes);
  int j = 1;
  do {
    const char* next = b.source(j) + offset;
#pragma GCC unroll 8
    for (int u = 0; u < Unroll; ++u)
      acc[u] = K::template apply<Bytes>(acc[u], K::template load<Bytes>(next + u * Bytes));
  } while (++j < b.k);
#pragma GCC unroll 8
  for (int u = 0; u < Unroll; ++u) K::template store<Bytes>(b.dst + offset + u * Bytes, acc[u]);
}

// What is left after `offset`: less than two vectors of Bytes.
template <class K, int Bytes>
HOCKET_KERNELS_INLINE void reduce_rest(const Buffers& b, std::size_t offset, std::size_t end) {
  if constexpr (Bytes > K::unit && Bytes >= narrowest_vector_bytes) {
    if (end - offset >= Bytes) {
      reduce_block<K, Bytes, 1>(b, offset);
      offset += Bytes;
    }
    reduce_rest<K, Bytes / 2>(b, offset, end);
  } else {
    for (; offset < end; offset += K::unit) reduce_block<K, K::unit, 1>(b, offset);
  }
}

template <class K>
void reduce(void* dst, const void* const* src, int k, std::size_t n) noexcept {
  const Buffers b{static_cast<char*>(dst), src, k};
  const std::size_t end = n * K::unit;
  if (k == 1) {
    if (dst != src[0]) __builtin_memcpy(dst, src[0], end);
    return;
  }
  constexpr std::size_t step = static_cast<std::size_t>(K::widest) * K::unroll;
  std::size_t offset = 0;
  for (; end - offset >= step; offset += step) reduce_block<K, K::widest, K::unroll>(b, offset);
  if constexpr (K::unroll > 1 && K::widest > K::unit) {
    for (; end - offset >= K::widest; offset += K::widest) reduce_block<K, K::widest, 1>(b, offset);
    reduce_rest<K, K::widest / 2>(b, offset, end);
  } else {
    reduce_rest<K, K::unit>(b, offset, end);
  }
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
