// f16 to f32 and back by the instructions that every aarch64 has.
#pragma once

#include <arm_neon.h>

#include "kernels/reduce/float_words.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

struct F16Conversion {
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> widen(Short<Bytes> h) {
    if constexpr (Bytes == 4) {
      return static_cast<float>(bits_as<__fp16>(h));
    } else {
      return bits_as<Float<Bytes>>(vcvt_f32_f16(bits_as<float16x4_t>(h)));
    }
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Short<Bytes> narrow(Float<Bytes> f) {
    if constexpr (Bytes == 4) {
      return bits_as<std::uint16_t>(static_cast<__fp16>(f));
    } else {
      return bits_as<Short<Bytes>>(vcvt_f16_f32(bits_as<float32x4_t>(f)));
    }
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Float<Bytes> round(Float<Bytes> value) {
    return widen<Bytes>(narrow<Bytes>(value));
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
