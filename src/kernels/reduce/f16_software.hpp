// f16 to f32 and back in integer arithmetic, after Fabian Giesen's "float->half variants" (2012): the bits
// that the instructions give, also when the program flushes subnormals to zero.
#pragma once

#include "kernels/reduce/float_words.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

struct F16Conversion {
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
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
