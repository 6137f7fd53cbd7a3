// f16 (IEEE binary16) and bf16: held in registers as f32 that are exactly representable in the short type;
// every arithmetic step rounds to nearest even.
#pragma once

#include "kernels/reduce/arithmetic.hpp"
#include "kernels/reduce/float_words.hpp"

#if defined(__F16C__)
#include "kernels/reduce/f16_x86.hpp"
#elif defined(__aarch64__)
#include "kernels/reduce/f16_neon.hpp"
#else
#include "kernels/reduce/f16_software.hpp"
#endif

namespace hocket::kernels::HOCKET_KERNELS_ISA {

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

struct F16 : F16Conversion {
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> load(const char* from) {
    return F16Conversion::widen<Bytes>(load_bytes<Short<Bytes>>(from));
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Float<Bytes> value) {
    store_bytes(to, F16Conversion::narrow<Bytes>(value));
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
