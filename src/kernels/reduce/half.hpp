// f16 (IEEE binary16) and bf16: held in registers as f32 that are exactly representable in the short type;
// every arithmetic step rounds to nearest even. The integer conversions follow Fabian Giesen's
// "float->half variants" (2012) and give the bits that F16C gives, also when the program flushes subnormals.
#pragma once

#include "kernels/reduce/arithmetic.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

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

struct Bf16 {
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> load(const char* from) {
    return bits_as<Float<Bytes>>(load_short<Bytes>(from) << 16);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> round(Float<Bytes> value) {
    const auto bits = bits_as<Word<Bytes>>(value);
    const Word<Bytes> rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const Word<Bytes> quiet = bits | 0x400000u;
    const Word<Bytes> chosen = above<Bytes>(bits & 0x7fffffffu, 0x7f800000) ? quiet : rounded;
    return bits_as<Float<Bytes>>(chosen & 0xffff0000u);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Float<Bytes> value) {
    store_short<Bytes>(to, bits_as<Word<Bytes>>(value) >> 16);
  }
};

struct F16 {
#if defined(__F16C__)
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
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> round(Float<Bytes> value) {
    return widen<Bytes>(narrow<Bytes>(value));
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
#else
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> widen(Short<Bytes> h) {
    const Word<Bytes> bits = convert_lanes<std::uint32_t, std::uint16_t, Bytes / 2>(h);
    const Word<Bytes> sign = (bits & 0x8000u) << 16;
    const Word<Bytes> shifted = (bits & 0x7fffu) << 13;
    const Word<Bytes> normal = shifted + ((127u - 15u) << 23);
    // Infinity or NaN: the largest exponent; NaN made quiet.
    const Word<Bytes> top = shifted + ((255u - 31u) << 23);
    const Word<Bytes> special = above<Bytes>(shifted, 31 << 23) ? top | 0x400000u : top;
    // Subnormal m * 2^-24 = (2^-14 + m * 2^-24) - 2^-14, which meets no subnormal f32.
    const auto raised = bits_as<Float<Bytes>>(normal + (1u << 23));
    const Word<Bytes> subnormal = bits_as<Word<Bytes>>(raised - 0x1p-14f) & 0x7fffffffu;
    const Word<Bytes> finite = above<Bytes>(shifted, (1 << 23) - 1) ? normal : subnormal;
    return bits_as<Float<Bytes>>((above<Bytes>(shifted, (31 << 23) - 1) ? special : finite) | sign);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Short<Bytes> narrow(Float<Bytes> f) {
    const auto bits = bits_as<Word<Bytes>>(f);
    const Word<Bytes> sign = (bits >> 16) & 0x8000u;
    const Word<Bytes> magnitude = bits & 0x7fffffffu;
    const Word<Bytes> normal = (magnitude - ((127u - 15u) << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    // Adding 0.5 lines the last bit of a subnormal f16 up with the last bit of the f32, and rounds there.
    const Word<Bytes> subnormal = bits_as<Word<Bytes>>(bits_as<Float<Bytes>>(magnitude) + 0.5f) - 0x3f000000u;
    const Word<Bytes> infinity = (magnitude & 0u) | 0x7c00u;
    const Word<Bytes> nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    const Word<Bytes> special = above<Bytes>(magnitude, 0x7f800000) ? nan : infinity;
    const Word<Bytes> finite = above<Bytes>(magnitude, (113 << 23) - 1) ? normal : subnormal;
    const Word<Bytes> chosen = (above<Bytes>(magnitude, 0x477fffff) ? special : finite) | sign;
    return convert_lanes<std::uint16_t, std::uint32_t, Bytes>(chosen);
  }
  // narrow and widen in one, without leaving f32.
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> round(Float<Bytes> value) {
    const auto bits = bits_as<Word<Bytes>>(value);
    const Word<Bytes> magnitude = bits & 0x7fffffffu;
    const Word<Bytes> normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & ~0x1fffu;
    const Word<Bytes> subnormal = bits_as<Word<Bytes>>((bits_as<Float<Bytes>>(magnitude) + 0.5f) - 0.5f);
    const Word<Bytes> infinity = (magnitude & 0u) | 0x7f800000u;
    const Word<Bytes> nan = (magnitude | 0x400000u) & ~0x1fffu;
    const Word<Bytes> special = above<Bytes>(magnitude, 0x7f800000) ? nan : infinity;
    const Word<Bytes> finite = above<Bytes>(magnitude, (113 << 23) - 1) ? normal : subnormal;
    const Word<Bytes> chosen = above<Bytes>(normal, 0x477fffff) ? special : finite;
    return bits_as<Float<Bytes>>(chosen | (bits & 0x80000000u));
  }
#endif

  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> load(const char* from) {
    return widen<Bytes>(load_bytes<Short<Bytes>>(from));
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Float<Bytes> value) {
    store_bytes(to, narrow<Bytes>(value));
  }
};

template <class Format, class Operation, bool rounds>
struct ShortFloat {
  static constexpr int unit = 2;
  static constexpr int widest = vector_bytes / 2;
  static constexpr int registers = 4;

  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<2 * Bytes> load(const char* from) {
    return Format::template load<2 * Bytes>(from);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<2 * Bytes> apply(Float<2 * Bytes> a, Float<2 * Bytes> b) {
    const auto result = Operation::of(a, b);
    if constexpr (rounds) {
      return Format::template round<2 * Bytes>(result);
    } else {
      return result;
    }
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Float<2 * Bytes> value) {
    Format::template store<2 * Bytes>(to, value);
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
