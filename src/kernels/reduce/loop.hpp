// The function in the table: which loop a reduction takes. Kernels that are bound by memory take one that
// keeps the sources' streams apart; those bound by computing take one with several independent registers.
//
// A kernel K offers: unit (bytes of an element), widest (bytes of memory per register), registers (how many
// at
//   once, if computing is what takes time; else 1), and
//   load<B>(pointer), apply<B>(left, right), store<B>(pointer, value) for B = widest, widest / 2 ... unit.
#pragma once

#include "kernels/reduce/steps.hpp"
#include "kernels/reduce/streams.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// The functions hand over to each other by tail calls: a short reduction saves no more registers than it
// uses.
template <class K>
void reduce(void* dst, const void* const* src, int k, std::size_t n) noexcept {
  char* const to = static_cast<char*>(dst);
  const std::size_t end = n * K::unit;
  if (k == 1) {
    if (dst != src[0]) __builtin_memcpy(dst, src[0], end);
    return;
  }
  if constexpr (K::registers == 1) {
    if (end >= K::widest)
      return k == 2 ? reduce_unrolled<K, 2>(to, src, end) : reduce_streams<K>(to, src, k, end);
  }
  reduce_any<K>(to, src, k, end, 0);
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
