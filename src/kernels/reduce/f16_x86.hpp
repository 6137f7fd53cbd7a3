// f16 to f32 and back by the F16C and AVX-512 instructions.
#pragma once

#include <immintrin.h>

#include "kernels/reduce/float_words.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

struct F16Conversion {
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> widen(Short<Bytes> h) {
    if constexpr (Bytes == 4) {
      return _cvtsh_ss(h);
    } else if constexpr (Bytes == 16) {
      return (Float<16>)_mm_cvtph_ps(_mm_set_epi64x(0, bits_as<long long>(h)));
    } else if constexpr (Bytes == 32) {
      return (Float<32>)_mm256_cvtph_ps((__m128i)h);
    } else {
      return widen_512(h);
    }
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Short<Bytes> narrow(Float<Bytes> f) {
    if constexpr (Bytes == 4) {
      return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
    } else if constexpr (Bytes == 16) {
      return bits_as<Short<16>>(_mm_cvtsi128_si64(_mm_cvtps_ph((__m128)f, _MM_FROUND_TO_NEAREST_INT)));
    } else if constexpr (Bytes == 32) {
      return (Short<32>)_mm256_cvtps_ph((__m256)f, _MM_FROUND_TO_NEAREST_INT);
    } else {
      return narrow_512(f);
    }
  }
#if defined(__AVX512F__)
  // The masked forms with a full mask: GCC 12 warns of its own headers' undefined value in the plain ones.
  HOCKET_KERNELS_INLINE static Float<64> widen_512(Short<64> h) {
    return (Float<64>)_mm512_maskz_cvtph_ps(0xffff, (__m256i)h);
  }
  HOCKET_KERNELS_INLINE static Short<64> narrow_512(Float<64> f) {
    return (Short<64>)_mm512_maskz_cvtps_ph(0xffff, (__m512)f, _MM_FROUND_TO_NEAREST_INT);
  }
#endif
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> round(Float<Bytes> value) {
    return widen<Bytes>(narrow<Bytes>(value));
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
