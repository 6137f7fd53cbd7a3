// The steps that reductions are made of: some registers' worth of elements, all sources in turn.
//
// The running result stays in registers, so that any number of sources takes one pass over memory. All loads
// of a step come before its stores, hence dst may be one of the sources. What is left at the end is done in
// ever narrower vectors down to single elements, so that nothing beyond an element is ever read or computed.
#pragma once

#include "kernels/reduce/vectors.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Narrowest vector worth a step of its own before the single elements.
inline constexpr int narrowest_vector_bytes = 8;

struct Buffers {
  char* dst;
  const void* const* src;
  int k;

  HOCKET_KERNELS_INLINE const char* source(int j) const { return static_cast<const char*>(src[j]); }
};

// k >= 2.
template <class K, int Bytes, int Registers>
HOCKET_KERNELS_INLINE void reduce_step(const Buffers& b, std::size_t offset) {
  decltype(K::template load<Bytes>(b.dst)) result[Registers];
  const char* from = b.source(0) + offset;
#pragma GCC unroll 4
  for (int r = 0; r < Registers; ++r) result[r] = K::template load<Bytes>(from + r * Bytes);
  int j = 1;
  do {
    from = b.source(j) + offset;
#pragma GCC unroll 4
    for (int r = 0; r < Registers; ++r)
      result[r] = K::template apply<Bytes>(result[r], K::template load<Bytes>(from + r * Bytes));
  } while (++j < b.k);
#pragma GCC unroll 4
  for (int r = 0; r < Registers; ++r) K::template store<Bytes>(b.dst + offset + r * Bytes, result[r]);
}

// What is left after `offset`: less than two vectors of Bytes.
template <class K, int Bytes>
HOCKET_KERNELS_INLINE void reduce_rest(const Buffers& b, std::size_t offset, std::size_t end) {
  if constexpr (Bytes > K::unit && Bytes >= narrowest_vector_bytes) {
    if (end - offset >= Bytes) {
      reduce_step<K, Bytes, 1>(b, offset);
      offset += Bytes;
    }
    reduce_rest<K, Bytes / 2>(b, offset, end);
  } else {
    for (; offset < end; offset += K::unit) reduce_step<K, K::unit, 1>(b, offset);
  }
}

// Any k >= 2, from `offset` on.
template <class K>
[[gnu::noinline]] void reduce_any(char* dst, const void* const* src, int k, std::size_t end,
                                  std::size_t offset) noexcept {
  const Buffers b{dst, src, k};
  constexpr std::size_t step = std::size_t{K::registers} * K::widest;
  if constexpr (K::registers > 1)
    for (; end - offset >= step; offset += step) reduce_step<K, K::widest, K::registers>(b, offset);
  for (; end - offset >= K::widest; offset += K::widest) reduce_step<K, K::widest, 1>(b, offset);
  if constexpr (K::widest > K::unit) reduce_rest<K, K::widest / 2>(b, offset, end);
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
