// f32 in registers and the words they consist of: what the 16-bit floating-point types are converted with.
#pragma once

#include "kernels/reduce/vectors.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Bytes counts the registers' f32 side in this file's helpers.
template <int Bytes>
using Float = Vector<float, Bytes>;
template <int Bytes>
using Word = Vector<std::uint32_t, Bytes>;
template <int Bytes>
using SignedWord = Vector<std::int32_t, Bytes>;
template <int Bytes>
using Short = Vector<std::uint16_t, Bytes / 2>;

// left > right for words without their top bit: SSE2, AVX2 and many others compare signed words only.
template <int Bytes>
HOCKET_KERNELS_INLINE auto above(Word<Bytes> left, std::int32_t right) {
  return bits_as<SignedWord<Bytes>>(left) > right;
}

template <int Bytes>
HOCKET_KERNELS_INLINE Word<Bytes> load_short(const char* from) {
  return convert_lanes<std::uint32_t, std::uint16_t, Bytes / 2>(load_bytes<Short<Bytes>>(from));
}

template <int Bytes>
HOCKET_KERNELS_INLINE void store_short(char* to, Word<Bytes> value) {
  store_bytes(to, convert_lanes<std::uint16_t, std::uint32_t, Bytes>(value));
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
